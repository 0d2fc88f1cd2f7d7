/* The texts of --help and --version. */
#ifndef DRIVER_HELP_H
#define DRIVER_HELP_H

#include "driver/epop/drivers.h"
#include "driver/epop/option.h"

void help_print(const struct option_row *options, int count, const struct drivers *drivers);
void version_print(void);

#endif
