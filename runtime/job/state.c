/* One variable for all files of this folder, none of which depends on another by it. */
#include "runtime/job/state.h"

struct job job;
