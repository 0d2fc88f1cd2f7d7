/* One thread waits, with a time limit, for something that PMIx's progress thread reports. */
#ifndef EPOP_CONTROL_WAITER_H
#define EPOP_CONTROL_WAITER_H

#include <pmix.h>
#include <stddef.h>

struct control_waiter;
struct control_waiter *control_waiter_new(void);
/* Called once by the reporting side; text is copied and may be NULL. */
void control_waiter_report(struct control_waiter *waiter, pmix_status_t status, const char *text);
/* 0 once reported, -1 after timeout_ms. *text (may be NULL) is the caller's to free. */
int control_waiter_wait(struct control_waiter *waiter, int timeout_ms, pmix_status_t *status, char **text);
/* Ends the wait with PMIX_ERR_LOST_CONNECTION; the report may come all the same, or never. */
void control_waiter_interrupt(struct control_waiter *waiter);
/* The waiting side is through; called once, before or after the report. */
void control_waiter_drop(struct control_waiter *waiter);
/* A pmix_info_cbfunc_t: reports the text of CONTROL_KEY_ANSWER to the waiter in cbdata. */
void control_waiter_answered(pmix_status_t status, pmix_info_t *info, size_t count, void *cbdata,
                             pmix_release_cbfunc_t release, void *release_cbdata);

#endif
