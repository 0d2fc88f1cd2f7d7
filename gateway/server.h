/*
 * The PMIx server, by the public API alone. What tools ask is handed to the thread that runs the base, and answered by
 * it; what a tool may be told at all, guests.h decides first.
 */
#ifndef EPOP_GATEWAY_SERVER_H
#define EPOP_GATEWAY_SERVER_H

#include <event2/event.h>
#include <pmix.h>
#include <pmix_server.h>
#include <stdbool.h>

#include "runtime/base/error.h"

/* The code of all events that PMIx has no code for; the info PMIX_EVENT_TEXT_MESSAGE says which one it is. */
#define SERVER_EVENT (PMIX_EXTERNAL_ERR_BASE - 71)

/* What a tool asks. All that it points to stays until it is answered. */
struct asked {
    struct asked *next;
    enum { ASKED_QUERY, ASKED_ALLOCATION, ASKED_CONTROL } kind;
    const pmix_query_t *queries; /* of a query */
    size_t query_count;
    pmix_alloc_directive_t directive; /* of an allocation */
    const pmix_proc_t *targets;       /* of a control */
    size_t target_count;
    const pmix_info_t *info; /* of the last two */
    size_t info_count;
    pmix_info_cbfunc_t done; /* the server's own, from here on */
    void *done_data;
    pmix_status_t status;
    pmix_info_t *answer;
    size_t answer_count;
};

/* Files of it are in that directory, which is ours alone; its address is in one called `uri`. 0, or -1 with text. Once.
 */
int server_open(struct event_base *base, const char *directory, void (*take)(struct asked *asked), struct error *error);

/* Answers it, and frees it and the answer (of PMIX_INFO_CREATE, or NULL). */
void server_answer(struct asked *asked, pmix_status_t status, pmix_info_t *answer, size_t count);

/* An event for all tools that want those of its code. The infos are the callee's. */
void server_notify(pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info, size_t count);

/* Was a tool attached, a second ago at most? */
bool server_has_guests(void);

/* Nothing is taken any more, and the process is about to end. Events that are under way go out before, where a tool is
 * there. */
void server_close(void);

#endif
