/* Commands that ask a job one thing and show what it is. */
#ifndef EPOP_CTL_SHOW_H
#define EPOP_CTL_SHOW_H

#include <cjson/cJSON.h>

#include "epopctl/command.h"

struct ctl_view {
    const char *op; /* the request */
    /* Puts more into the request; NULL: there is no more. The exit code of a wrong argument. */
    int (*complete)(cJSON *request, const struct ctl_arguments *arguments);
    const char *member;               /* of the answer: what is shown */
    const char *none;                 /* said when it is not there, and the answer has no reason */
    void (*print)(const cJSON *what); /* without --json */
};

/* The exit code of the command. */
int ctl_show(const struct ctl_arguments *arguments, const struct ctl_view *view);

#endif
