/* What a report is of: a profile, with or without its trace; the loops of an executable; a schedule; or a paper. */
#ifndef EPOP_REPORT_SUBJECT_H
#define EPOP_REPORT_SUBJECT_H

#include <stddef.h>

#include "report/engine.h"
#include "report/options.h"

struct subject {
    const char *kind; /* "profile", "loops", "schedule" or "paper" */
    char *json;       /* what they show; owned */
};

/* Reads and checks the files. 0, or -1 with the file that is to blame and the reason, which goes on after its name. */
int subject_read(struct subject *subject, struct engine *engine, const struct options *options, const char **file,
                 char *error, size_t error_size);

#endif
