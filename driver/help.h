/* The texts of --help and --version. */
#ifndef DRIVER_HELP_H
#define DRIVER_HELP_H

#include "driver/drivers.h"

/* One of epop's own options. */
struct option_text {
    const char *name;     /* without the dashes */
    const char *argument; /* NULL: takes none */
    const char *help;
    int letter; /* short form and identity; above 255: has no short form */
};

void help_print(const struct option_text *options, int count, const struct drivers *drivers);
void version_print(void);

#endif
