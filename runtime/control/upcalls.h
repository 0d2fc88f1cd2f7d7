/* What PMIx asks its host. */
#ifndef EPOP_CONTROL_UPCALLS_H
#define EPOP_CONTROL_UPCALLS_H

#include <pmix_server.h>

pmix_server_module_t *control_upcalls(void);
/* An event handler: connections are lost. */
void control_upcalls_lost(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[], size_t count,
                          pmix_info_t *results, size_t result_count, pmix_event_notification_cbfunc_fn_t done,
                          void *cbdata);

#endif
