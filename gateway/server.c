/* The PMIx server: see server.h. Its upcalls come in PMIx's own thread, and only put what they are given into a list.
 */
#include "gateway/server.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gateway/guests.h"
#include "runtime/base/clock.h"
#include "runtime/wire/loop.h"

#define PATIENCE 1.0  /* seconds until a tool beside a stranger is refused */
#define AGAIN    0.02 /* between two looks */
#define ROUND    1.0  /* the same where nobody waits */

enum { ROUNDS = 3 }; /* that a stranger is borne with: PMIx reads what a newcomer says with blocking calls */

/* OpenPMIx 4.2 crashes when it is told to refuse a tool, and keeps the connection of one that gets no answer. */
#define CAN_REFUSE (PMIX_VERSION_MAJOR >= 5)

struct arrival {
    struct arrival *next;
    bool ours; /* it says so */
    double deadline;
    pmix_proc_t proc; /* the name that it is given, or has */
    pmix_tool_connection_cbfunc_t done;
    void *done_data;
};

static struct {
    pthread_mutex_t lock;
    struct asked *asked, **last; /* under the lock, as the next */
    struct arrival *arrived;
    bool closed;
    struct event *news; /* something is in the lists */
    struct event *look; /* at those who wait, again */
    struct event *round;
    int strange; /* rounds in which there was a stranger */
    bool guest;
    struct arrival *waiting;
    void (*take)(struct asked *asked);
    unsigned count; /* tools that were given a name */
    char nspace[64];
    pmix_info_t *quiet; /* for events that nobody hears; PMIx reads it later */
} server = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = &server.asked};

/* ---- Upcalls -------------------------------------------------------------------- */

static pmix_status_t put(const struct asked *what)
{
    struct asked *asked = malloc(sizeof *asked);
    if (!asked)
        return PMIX_ERR_NOMEM;
    *asked = *what;
    pthread_mutex_lock(&server.lock);
    bool closed = server.closed;
    if (!closed) {
        *server.last = asked;
        server.last = &asked->next;
        event_active(server.news, 0, 0);
    }
    pthread_mutex_unlock(&server.lock);
    if (closed)
        free(asked);
    return closed ? PMIX_ERR_UNREACH : PMIX_SUCCESS;
}

static pmix_status_t query(pmix_proc_t *proc, pmix_query_t *queries, size_t count, pmix_info_cbfunc_t done, void *data)
{
    (void)proc;
    return put(&(struct asked){
        .kind = ASKED_QUERY, .queries = queries, .query_count = count, .done = done, .done_data = data});
}

static pmix_status_t allocate(const pmix_proc_t *client, pmix_alloc_directive_t directive, const pmix_info_t info[],
                              size_t count, pmix_info_cbfunc_t done, void *data)
{
    (void)client;
    return put(&(struct asked){.kind = ASKED_ALLOCATION,
                               .directive = directive,
                               .info = info,
                               .info_count = count,
                               .done = done,
                               .done_data = data});
}

static pmix_status_t control(const pmix_proc_t *requestor, const pmix_proc_t targets[], size_t target_count,
                             const pmix_info_t info[], size_t count, pmix_info_cbfunc_t done, void *data)
{
    (void)requestor;
    return put(&(struct asked){.kind = ASKED_CONTROL,
                               .targets = targets,
                               .target_count = target_count,
                               .info = info,
                               .info_count = count,
                               .done = done,
                               .done_data = data});
}

/* What one tool tells the others PMIx hands on by itself. */
static pmix_status_t notify(pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range, pmix_info_t info[],
                            size_t count, pmix_op_cbfunc_t done, void *data)
{
    (void)code, (void)source, (void)range, (void)info, (void)count, (void)done, (void)data;
    return PMIX_OPERATION_SUCCEEDED;
}

static const pmix_value_t *value_of(const pmix_info_t *info, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (PMIX_CHECK_KEY(&info[i], key))
            return &info[i].value;
    return NULL;
}

static void name(struct arrival *arrival, const pmix_info_t *info, size_t count)
{
    const pmix_value_t *nspace = value_of(info, count, PMIX_NSPACE), *rank = value_of(info, count, PMIX_RANK);
    char given[80];
    snprintf(given, sizeof given, "%s-tool-%u", server.nspace, ++server.count);
    bool has = nspace && nspace->type == PMIX_STRING && nspace->data.string && rank && rank->type == PMIX_PROC_RANK;
    PMIX_LOAD_PROCID(&arrival->proc, has ? nspace->data.string : given, has ? rank->data.rank : 0);
}

static void tool_connected(pmix_info_t *info, size_t count, pmix_tool_connection_cbfunc_t done, void *data)
{
    const pmix_value_t *uid = value_of(info, count, PMIX_USERID);
    struct arrival *arrival = calloc(1, sizeof *arrival);
    if (!arrival)
        return;
    arrival->ours = uid && uid->type == PMIX_UINT32 && uid->data.uint32 == geteuid();
    arrival->deadline = monotonic_seconds() + PATIENCE;
    arrival->done = done;
    arrival->done_data = data;
    name(arrival, info, count);
    pthread_mutex_lock(&server.lock);
    arrival->next = server.arrived;
    server.arrived = arrival;
    if (!server.closed)
        event_active(server.news, 0, 0);
    pthread_mutex_unlock(&server.lock);
}

/* ---- On the base ------------------------------------------------------------------ */

/* In PMIx's thread by an event that nobody hears: of its answers not all may come from another one. */
static void in_its_thread(pmix_op_cbfunc_t run, void *data)
{
    pmix_status_t status = PMIx_Notify_event(SERVER_EVENT, NULL, PMIX_RANGE_PROC_LOCAL, server.quiet, 1, run, data);
    if (status != PMIX_SUCCESS)
        run(status, data);
}

/* Who watches this process starts another one, with another port. */
static void give_up(void)
{
    _exit(EXIT_FAILURE);
}

static void settle(struct arrival *arrival, bool welcome)
{
    if (!welcome && !CAN_REFUSE)
        give_up();
    arrival->done(welcome ? PMIX_SUCCESS : PMIX_ERR_NO_PERMISSIONS, &arrival->proc, arrival->done_data);
    free(arrival);
}

static void on_round(evutil_socket_t fd, short what, void *context)
{
    struct guests_seen seen = guests_look();
    (void)fd, (void)what, (void)context;
    server.guest = seen.guest;
    server.strange = seen.stranger ? server.strange + 1 : 0;
    if (server.strange >= ROUNDS)
        give_up();
    wire_timer_set(server.round, ROUND);
}

/* A tool of ours waits as long as a stranger is there; it is refused when that takes too long. */
static void look(void)
{
    double now = monotonic_seconds();
    for (struct arrival **at = &server.waiting, *arrival; (arrival = *at);) {
        bool welcome = arrival->ours && guests_admit();
        if (!welcome && arrival->ours && arrival->deadline > now) {
            at = &arrival->next;
            continue;
        }
        *at = arrival->next;
        settle(arrival, welcome);
    }
    if (server.waiting)
        wire_timer_set(server.look, AGAIN);
}

static void on_look(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what, (void)context;
    look();
}

static void on_news(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what, (void)context;
    pthread_mutex_lock(&server.lock);
    struct asked *asked = server.asked;
    struct arrival *arrived = server.arrived;
    server.asked = NULL;
    server.last = &server.asked;
    server.arrived = NULL;
    pthread_mutex_unlock(&server.lock);
    for (struct arrival *next; arrived; arrived = next) {
        next = arrived->next;
        arrived->next = server.waiting;
        server.waiting = arrived;
    }
    look();
    for (struct asked *next; asked; asked = next) {
        next = asked->next;
        server.take(asked);
    }
}

static void release(void *data)
{
    struct asked *asked = data;
    if (asked->answer)
        PMIX_INFO_FREE(asked->answer, asked->answer_count);
    free(asked);
}

static void answered(pmix_status_t status, void *data)
{
    struct asked *asked = data;
    (void)status;
    asked->done(asked->status, asked->answer, asked->answer_count, asked->done_data, release, asked);
}

void server_answer(struct asked *asked, pmix_status_t status, pmix_info_t *answer, size_t count)
{
    asked->status = status;
    asked->answer = answer;
    asked->answer_count = count;
    in_its_thread(answered, asked);
}

struct event_infos {
    pmix_info_t *info;
    size_t count;
};

static void notified(pmix_status_t status, void *data)
{
    struct event_infos *infos = data;
    (void)status;
    PMIX_INFO_FREE(infos->info, infos->count);
    free(infos);
}

void server_notify(pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info, size_t count)
{
    struct event_infos *infos = malloc(sizeof *infos);
    if (!infos)
        return;
    *infos = (struct event_infos){.info = info, .count = count};
    pmix_status_t status = PMIx_Notify_event(code, source, PMIX_RANGE_SESSION, info, count, notified, infos);
    if (status != PMIX_SUCCESS)
        notified(status, infos);
}

bool server_has_guests(void)
{
    return server.guest;
}

/* ---- Begin and end ------------------------------------------------------------------ */

static int start(const char *directory)
{
    static pmix_server_module_t module = {.query = query,
                                          .tool_connected = tool_connected,
                                          .allocate = allocate,
                                          .job_control = control,
                                          .notify_event = notify};
    bool yes = true;
    pmix_rank_t rank = 0;
    char report[640];
    pmix_info_t info[9];
    for (int i = 0; i < 9; i++)
        PMIX_INFO_CONSTRUCT(&info[i]);
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_SERVER_NSPACE, server.nspace, PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_SERVER_RANK, &rank, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&info[3], PMIX_SERVER_TMPDIR, directory, PMIX_STRING);
    PMIX_INFO_LOAD(&info[4], PMIX_SYSTEM_TMPDIR, directory, PMIX_STRING);
    PMIX_INFO_LOAD(&info[5], PMIX_TCP_IF_INCLUDE, "127.0.0.0/8", PMIX_STRING);
    PMIX_INFO_LOAD(&info[6], PMIX_TCP_DISABLE_IPV6, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[7], PMIX_SERVER_SYSTEM_SUPPORT, &yes, PMIX_BOOL);
    snprintf(report, sizeof report, "%s/uri", directory);
    PMIX_INFO_LOAD(&info[8], PMIX_TCP_REPORT_URI, report, PMIX_STRING);
    pmix_status_t status = PMIx_server_init(&module, info, 9);
    for (int i = 0; i < 9; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    return status;
}

/* "NSPACE.RANK;tcp4://127.0.0.1:PORT". Another address than that would not keep anybody out. */
static int find_port(void)
{
    pmix_proc_t self;
    pmix_value_t *value = NULL;
    int port;
    PMIX_LOAD_PROCID(&self, server.nspace, 0);
    if (PMIx_Get(&self, PMIX_SERVER_URI, NULL, 0, &value) != PMIX_SUCCESS || value->type != PMIX_STRING)
        return -1;
    const char *address = strstr(value->data.string, ";tcp4://127.0.0.1:");
    bool found = address && sscanf(strrchr(address, ':'), ":%d", &port) == 1;
    PMIX_VALUE_RELEASE(value);
    if (!found)
        return -1;
    guests_port(port);
    return 0;
}

int server_open(struct event_base *base, const char *directory, void (*take)(struct asked *asked), struct error *error)
{
    bool yes = true;
    server.take = take;
    PMIX_INFO_CREATE(server.quiet, 1);
    PMIX_INFO_LOAD(server.quiet, PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    server.news = event_new(base, -1, 0, on_news, NULL);
    server.look = evtimer_new(base, on_look, NULL);
    server.round = evtimer_new(base, on_round, NULL);
    if (!server.news || !server.look || !server.round)
        return error_memory(error);
    snprintf(server.nspace, sizeof server.nspace, "epop-gateway-%ld", (long)getpid());
    int status = start(directory);
    if (status != PMIX_SUCCESS)
        return error_set(error, ERROR_FAILED, "no PMIx server: %s", PMIx_Error_string(status));
    if (find_port())
        return error_set(error, ERROR_FAILED, "the PMIx server does not listen on loopback alone");
    wire_timer_set(server.round, ROUND);
    return 0;
}

void server_close(void)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    pthread_mutex_lock(&server.lock);
    server.closed = true;
    pthread_mutex_unlock(&server.lock);
    if (!guests_look().guest) /* the job's end waits for nobody */
        return;
    nanosleep(&pause, NULL); /* PMIx does not say when it has sent what it was told to */
    PMIx_server_finalize();
}
