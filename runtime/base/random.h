/* Random digits for secrets and for names that nobody can guess. */
#ifndef EPOP_BASE_RANDOM_H
#define EPOP_BASE_RANDOM_H

#include <stddef.h>

/* So many random bytes, 64 at most, as twice as many hex digits and a 0 in text. 0, or -1 when the kernel has none to
 * give. Any thread. */
int random_hex(char *text, size_t bytes);

#endif
