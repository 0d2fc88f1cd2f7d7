/* This process's part in its job: see state.h. */
#include "runtime/job/state.h"

struct job job;
