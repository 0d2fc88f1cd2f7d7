/* What has to be the same in all processes of a job: EPOP, the MPI library, and the program. */
#ifndef EPOP_IDENTITY_H
#define EPOP_IDENTITY_H

#include <stddef.h>

#define IDENTITY_MAX 200

/* One line that two processes can compare, readable enough to say what differs. `path`: of the program. Local. */
void identity_text(const char *path, char text[IDENTITY_MAX]);

#endif
