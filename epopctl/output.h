/* What epopctl prints. */
#ifndef EPOP_CTL_OUTPUT_H
#define EPOP_CTL_OUTPUT_H

#include "terminal/output.h"

/* One line on stderr, "epopctl: ...". */
void ctl_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
