/* What is asked about resource changes: whether there is one, that there be one, that it is accepted, or is through. */
#ifndef EPOP_COORDINATOR_SETS_CHANGES_H
#define EPOP_COORDINATOR_SETS_CHANGES_H

#include "runtime/coordinator/inquiries.h"

/* Each: the answer, or NULL while it waits. */
inquiry_answer sets_change_query;   /* is there one? */
inquiry_answer sets_change_request; /* let there be one */
inquiry_answer sets_change_accept;
inquiry_answer sets_change_confirm; /* by a process that joins */
inquiry_answer sets_change_close;   /* the program is through with it */
inquiry_answer sets_change_cancel;  /* what was asked for, if it still can be called off */
inquiry_answer sets_change_leaving; /* does the process that asks leave? */

#endif
