/* Random hex digits from the kernel. */
#include "runtime/base/random.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

int random_hex(char *text, size_t bytes)
{
    unsigned char raw[64];
    size_t have = 0;
    while (have < bytes) {
        ssize_t got = getrandom(raw + have, bytes - have, 0);
        if (got < 0 && errno != EINTR)
            return -1;
        if (got > 0)
            have += (size_t)got;
    }
    for (size_t i = 0; i < bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", raw[i]);
    return 0;
}
