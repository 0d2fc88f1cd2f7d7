/*
 * PMIx's progress thread. PMIx 4.2.2 puts an answer on the list of what its peer is to be sent in the thread that
 * gives it, without a lock: an answer from another thread may stay there for ever, beside an event that is just being
 * sent. So we answer in the progress thread.
 */
#ifndef EPOP_CONTROL_PROGRESS_H
#define EPOP_CONTROL_PROGRESS_H

#include <pmix.h>

/* Has run(..., context) called in the progress thread of the server, behind what that has to do by now. Any thread;
 * between enter and leave (server.h). */
void control_progress_call(pmix_op_cbfunc_t run, void *context);

#endif
