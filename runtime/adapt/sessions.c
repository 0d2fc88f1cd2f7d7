/*
 * MPI's own functions of sessions, in a job. A program that initializes a session before anything else has a job whose
 * ranks an agent adapts (agent.h). In others, under epop or with MPI_Init_adapt, sessions see the same sets, and the
 * program adapts as ever. Where MPI was initialized without any of ours, sessions are MPI's alone.
 */
#include "runtime/adapt/sessions.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "interpose/instead.h"
#include "interpose/interpose.h"
#include "runtime/adapt/agent.h"
#include "runtime/adapt/part.h"
#include "runtime/adapt/question.h"
#include "runtime/base/json.h"
#include "runtime/base/say.h"
#include "runtime/job/job.h"
#include "runtime/psets/psets.h"
#include "runtime/world/world.h"

static struct {
    pthread_mutex_t beginning; /* the job, which one thread does, and others wait for */
    pthread_mutex_t lock;      /* of all that follows */
    MPI_Session *open;         /* this process's */
    int count;
    bool malleable;
    char **names; /* of the sets in the order in which this process has met them: their indices stay */
    int named;
} sessions = {.beginning = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};

static void lock(void)
{
    pthread_mutex_lock(&sessions.lock);
}

static void unlock(void)
{
    pthread_mutex_unlock(&sessions.lock);
}

/* MPI is the program's own: nobody has begun a job. */
static bool is_plain(void)
{
    return !world.member;
}

static bool is_guest(void)
{
    return world.member && !part_has_sessions();
}

/* ---- Errors ---------------------------------------------------------------------------- */

static bool is_fatal(MPI_Session session)
{
    MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
    if (session != MPI_SESSION_NULL && sessions_has(session)) {
        MPI_Session_get_errhandler(session, &handler);
        bool fatal = handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT;
        MPI_Errhandler_free(&handler);
        return fatal;
    }
    return false;
}

int sessions_wrong(MPI_Session session, const char *function, int class, const char *why)
{
    char text[700];
    snprintf(text, sizeof text, "%s: %s", function, why);
    if (is_fatal(session) && part_now() == PART_MEMBER) {
        char line[800];
        snprintf(line, sizeof line, "rank %d: %s", part_rank(), text);
        epop__job_fail(line);
    }
    say_line("%s", text);
    if (sessions_has(session))
        MPI_Session_call_errhandler(session, class);
    return class;
}

int sessions_may_change(MPI_Session session, const char *function)
{
    if (!sessions_has(session))
        return sessions_wrong(session, function, MPI_ERR_SESSION, "that is no session; MPI_Session_init gives one");
    if (is_plain() || is_guest())
        return sessions_wrong(session, function, MPI_ERR_OTHER,
                              is_plain()
                                  ? "MPI was initialized by MPI_Init: there is no job that could change; begin with "
                                    "MPI_Session_init, or MPI_Init_adapt"
                                  : "this program adapts by its blocks or by MPI_Probe_adapt; a change of process "
                                    "sets by a session besides would be a second world");
    return MPI_SUCCESS;
}

/* ---- Initializing, and the end ------------------------------------------------------------ */

int sessions_open(void)
{
    lock();
    int count = sessions.count;
    unlock();
    return count;
}

/* With the lock. -1: it is none of them. */
static int find(MPI_Session session)
{
    int i = sessions.count - 1;
    while (i >= 0 && sessions.open[i] != session)
        i--;
    return i;
}

bool sessions_has(MPI_Session session)
{
    lock();
    bool has = find(session) >= 0;
    unlock();
    return has;
}

/* The program has returned from main, or called exit. */
static void on_end(int status)
{
    char text[120];
    struct error unheard;
    if (agent_is_it() || part_now() == PART_FINALIZED)
        return;
    if (part_now() == PART_MEMBER && sessions_open()) {
        snprintf(text, sizeof text, "rank %d called exit(%d), or returned from main, before MPI_Session_finalize",
                 part_rank(), status);
        epop__job_exits(text);
    }
    cJSON *answer = part_now() == PART_MEMBER ? question_ask(question("leaving"), &unheard) : NULL;
    int others_leave = json_int(answer, "adaptation", 0);
    if (json_true(answer, "leaves"))
        agent_await_leaving();
    else if (others_leave) /* they count on this one */
        agent_await_change(others_leave, NULL, NULL);
    cJSON_Delete(answer);
    agent_stop();
    if (part_now() != PART_MEMBER)
        return;
    epop__job_ended();
    part_end();
}

static int begin(MPI_Info info)
{
    char text[MPI_MAX_INFO_VAL + 1];
    int error = part_begin(NULL, NULL, PART_OF_SESSIONS, on_end);
    if (error)
        return error;
    sessions.malleable = info_text(info, "malleable", text) && !strcmp(text, "1");
    agent_start(epop__job_joins());
    if (epop__job_joins())
        question_birth();
    return MPI_SUCCESS;
}

/* The others count on the program's own decision from here on; a spawned process is there when they have made it. */
static int begin_malleable(void)
{
    struct error why;
    if (!agent_has_joined()) {
        agent_let_join();
        agent_await_joining();
        question_grown();
        return MPI_SUCCESS;
    }
    cJSON *answer = question_ask(question("malleable"), &why);
    cJSON_Delete(answer);
    return answer ? MPI_SUCCESS : part_wrong("MPI_Session_init", MPI_ERR_OTHER, why.text);
}

static bool is_first(void)
{
    int up;
    MPI_Initialized(&up);
    return !up && part_now() == PART_OUTSIDE;
}

/* Of several threads that initialize one begins the job. */
static int begin_once(MPI_Info info)
{
    pthread_mutex_lock(&sessions.beginning);
    bool first = is_first();
    int error = first ? begin(info) : MPI_SUCCESS;
    if (!error && first && sessions.malleable && part_now() != PART_LEFT)
        error = begin_malleable();
    pthread_mutex_unlock(&sessions.beginning);
    return error;
}

static int keep(MPI_Session session)
{
    lock();
    MPI_Session *more = realloc(sessions.open, (size_t)(sessions.count + 1) * sizeof *more);
    if (more) {
        sessions.open = more;
        sessions.open[sessions.count++] = session;
    }
    unlock();
    return more ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* How many are left. */
static int drop(MPI_Session session)
{
    lock();
    int i = find(session);
    if (i >= 0)
        sessions.open[i] = sessions.open[--sessions.count];
    int left = sessions.count;
    unlock();
    return left;
}

int epop__instead_MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    int error = begin_once(info);
    if (!error && part_has_sessions() && part_now() == PART_LEFT)
        return part_wrong("MPI_Session_init", MPI_ERR_OTHER, "this process has left the job");
    if (!error)
        error = MPI_Session_init(info, errhandler, session);
    if (!error)
        MPI_Session_set_errhandler(*session, errhandler); /* MPICH 4.0.2 forgets it */
    return error ? error : keep(*session);
}

int epop__instead_MPI_Session_finalize(MPI_Session *session)
{
    MPI_Session gone = session ? *session : MPI_SESSION_NULL;
    int error = MPI_Session_finalize(session);
    if (error)
        return error;
    if (!drop(gone) && part_has_sessions() && agent_has_left())
        agent_stop();
    return MPI_SUCCESS;
}

void sessions_leave(void)
{
    agent_stop();
    exit(EXIT_SUCCESS);
}

/* ---- Which sets there are -------------------------------------------------------------------- */

/* With the lock. */
static int name_set(const char *name)
{
    for (int i = 0; i < sessions.named; i++)
        if (!strcmp(sessions.names[i], name))
            return 0;
    char **more = realloc(sessions.names, (size_t)(sessions.named + 1) * sizeof *more);
    if (!more)
        return -1;
    sessions.names = more;
    sessions.names[sessions.named++] = strdup(name);
    return 0;
}

/* Those that this process has not met yet come behind the others. How many there are; -1 with text. */
static int name_sets(struct error *why)
{
    const cJSON *name;
    cJSON *answer = question_ask(question("list"), why);
    if (!answer)
        return -1;
    lock();
    int failed = name_set(PSETS_WORLD) || name_set(PSETS_SELF);
    cJSON_ArrayForEach(name, cJSON_GetObjectItemCaseSensitive(answer, "sets")) failed |= name_set(name->valuestring);
    int count = sessions.named;
    unlock();
    cJSON_Delete(answer);
    return failed ? error_memory(why) : count;
}

/* NULL: there are not so many so far. */
static const char *name_of(int n)
{
    lock();
    const char *name = n >= 0 && n < sessions.named ? sessions.names[n] : NULL;
    unlock();
    return name;
}

int epop__instead_MPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int *npset_names)
{
    struct error why;
    if (is_plain() || !sessions_has(session) || !npset_names)
        return MPI_Session_get_num_psets(session, info, npset_names);
    int count = name_sets(&why);
    if (count < 0)
        return sessions_wrong(session, "MPI_Session_get_num_psets", MPI_ERR_OTHER, why.text);
    *npset_names = count;
    return MPI_SUCCESS;
}

int epop__instead_MPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name)
{
    struct error why;
    if (is_plain() || !sessions_has(session) || !pset_len)
        return MPI_Session_get_nth_pset(session, info, n, pset_len, pset_name);
    const char *name = name_of(n);
    if (!name && n >= 0 && name_sets(&why) < 0)
        return sessions_wrong(session, "MPI_Session_get_nth_pset", MPI_ERR_OTHER, why.text);
    if (!name && !(name = name_of(n)))
        return sessions_wrong(session, "MPI_Session_get_nth_pset", MPI_ERR_ARG, "there are not so many process sets");
    if (*pset_len)
        snprintf(pset_name, (size_t)*pset_len, "%s", name);
    *pset_len = (int)strlen(name) + 1;
    return MPI_SUCCESS;
}

static void add_bool(MPI_Info info, const char *key, bool value)
{
    info_set(info, key, value ? "True" : "False");
}

static MPI_Info attributes(const cJSON *answer)
{
    MPI_Info info;
    const cJSON *hint;
    MPI_Info_create(&info);
    info_set_number(info, "mpi_size", json_number(answer, "size", 0));
    info_set_number(info, "mpi_ps_version", json_number(answer, "version", 0));
    info_set_number(info, "mpi_ps_epoch", json_number(answer, "epoch", 0));
    add_bool(info, "mpi_ps_active", json_true(answer, "active"));
    add_bool(info, "mpi_included", json_true(answer, "included"));
    add_bool(info, "mpi_primary", json_true(answer, "primary"));
    add_bool(info, "mpi_dyn", json_true(answer, "dynamic"));
    cJSON_ArrayForEach(hint, cJSON_GetObjectItemCaseSensitive(answer, "sched"))
        info_set(info, hint->string, hint->valuestring);
    return info;
}

int epop__instead_MPI_Session_get_pset_info(MPI_Session session, const char *pset_name, MPI_Info *info)
{
    struct error why;
    if (is_plain() || !sessions_has(session) || !pset_name || !info)
        return MPI_Session_get_pset_info(session, pset_name, info);
    cJSON *message = question("info");
    question_name(message, "set", pset_name);
    cJSON *answer = question_ask(message, &why);
    if (!answer)
        return sessions_wrong(session, "MPI_Session_get_pset_info", MPI_ERR_ARG, why.text);
    *info = attributes(answer);
    cJSON_Delete(answer);
    return MPI_SUCCESS;
}

/* ---- Groups ------------------------------------------------------------------------------------ */

/* The world as this process has it: the agent's, or that of a program whose own thread adapts. To be dropped. */
static struct agent_world *present(void)
{
    if (part_has_sessions())
        return agent_world_take();
    return agent_world_new(world.plan && world.committed ? world.plan->adaptation : 0, world.comm, NULL, world.size);
}

static int rank_in(const struct agent_world *it, int process)
{
    const struct plan *plan = it->id ? world.plan : NULL;
    for (int r = 0; it->processes && r < it->size; r++)
        if (it->processes[r] == process)
            return r;
    if (it->processes)
        return -1;
    int index = plan ? plan_index(plan, process) : -1;
    return plan ? (index < 0 ? -1 : plan->new_ranks[index]) : process;
}

/* Of these processes, in their order. -1: one is not in that world. */
static int make_group(const struct agent_world *it, const cJSON *members, MPI_Group *group)
{
    int count = 0, *ranks = malloc((size_t)cJSON_GetArraySize(members) * sizeof *ranks + 1);
    const cJSON *member;
    bool there = ranks;
    cJSON_ArrayForEach(member, members)
    {
        int rank = there ? rank_in(it, member->valueint) : -1;
        there = rank >= 0;
        if (there)
            ranks[count++] = rank;
    }
    if (there)
        MPI_Group_incl(it->group, count, ranks, group);
    free(ranks);
    return there ? 0 : -1;
}

/* Without asking anybody: this process, or all that it was started with. */
static bool is_known_here(const char *name, MPI_Group *group)
{
    if (!strcasecmp(name, PSETS_SELF))
        return MPI_Comm_group(MPI_COMM_SELF, group) == MPI_SUCCESS;
    if (strcmp(name, PSETS_WORLD) || agent_has_world())
        return false;
    struct agent_world *it = present();
    bool starts = !it->id;
    if (starts)
        MPI_Comm_group(it->comm, group);
    agent_world_drop(it);
    return starts;
}

static int group_of(const char *name, MPI_Group *group, struct error *why)
{
    if (is_known_here(name, group))
        return 0;
    agent_let_join(); /* who asks for others by their set is to meet them */
    cJSON *message = question("members");
    question_name(message, "set", name);
    cJSON *answer = question_ask(message, why);
    if (!answer)
        return -1;
    if (part_has_sessions())
        agent_await_world(json_int(answer, "world", 0));
    struct agent_world *it = present();
    int failed = 0;
    if (json_true(answer, "whole"))
        MPI_Comm_group(it->comm, group);
    else
        failed = make_group(it, cJSON_GetObjectItemCaseSensitive(answer, "members"), group);
    agent_world_drop(it);
    cJSON_Delete(answer);
    if (!failed && strcmp(name, PSETS_WORLD))
        question_grown(); /* from here on it is one of them */
    return failed ? error_set(why, ERROR_FAILED, "processes of %.200s are not in the present world", name) : 0;
}

int epop__instead_MPI_Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup)
{
    struct error why;
    if (is_plain() || !sessions_has(session) || !pset_name || !newgroup)
        return MPI_Group_from_session_pset(session, pset_name, newgroup);
    if (group_of(pset_name, newgroup, &why))
        return sessions_wrong(session, "MPI_Group_from_session_pset", MPI_ERR_ARG, why.text);
    return MPI_SUCCESS;
}

/* ---- Communicators -------------------------------------------------------------------------------- */

/* The ranks that the group's processes have in that world; NULL: out of memory. The caller frees them. */
static int *ranks_of(MPI_Group group, const struct agent_world *it, int *size)
{
    MPI_Group_size(group, size);
    int *own = malloc((size_t)*size * 2 * sizeof *own + 1);
    if (!own)
        return NULL;
    for (int i = 0; i < *size; i++)
        own[*size + i] = i;
    MPI_Group_translate_ranks(group, *size, own + *size, it->group, own);
    return own;
}

/* The group's process numbers, into members; false: one has left the job. */
static bool add_members(MPI_Group group, cJSON *members)
{
    struct agent_world *it = agent_world_take();
    int size, *ranks = ranks_of(group, it, &size);
    bool there = true;
    for (int i = 0; ranks && there && i < size; i++) {
        there = ranks[i] != MPI_UNDEFINED;
        if (there)
            cJSON_AddItemToArray(members, cJSON_CreateNumber(it->processes[ranks[i]]));
    }
    free(ranks);
    agent_world_drop(it);
    return there;
}

/* The list of the group's process numbers, with a key that is the same in all of them; NULL with text. */
static cJSON *meeting_of(MPI_Group group, const char *tag, struct error *why)
{
    cJSON *message = question("meet"), *members = cJSON_AddArrayToObject(message, "members");
    if (!add_members(group, members)) {
        error_set(why, ERROR_FAILED, "a process of the group has left the job");
        cJSON_Delete(message);
        return NULL;
    }
    char *list = cJSON_PrintUnformatted(members), *key = list ? malloc(strlen(list) + strlen(tag) + 10) : NULL;
    if (key)
        sprintf(key, "meet %s %s", tag, list);
    cJSON_AddStringToObject(message, "key", key ? key : "");
    cJSON_free(list);
    free(key);
    return message;
}

enum { TAGS = 32768 };

/* The group's processes in the opposite order. -1: out of memory. */
static int reverse(MPI_Group group, MPI_Group *reversed)
{
    int size, *ranks;
    MPI_Group_size(group, &size);
    ranks = malloc((size_t)size * sizeof *ranks + 1);
    for (int i = 0; ranks && i < size; i++)
        ranks[i] = size - 1 - i;
    if (ranks)
        MPI_Group_incl(group, size, ranks, reversed);
    free(ranks);
    return ranks ? 0 : -1;
}

/*
 * In ch3 a communicator whose ranks are the first ones of its parent's shares its table of connections: those of the
 * parent that leave would wait for these processes (runtime/backends/connecting.c). So it is made in the opposite order
 * first, and from that the right one.
 */
static int create_apart(MPI_Comm parent, MPI_Group group, int tag, MPI_Comm *comm)
{
    MPI_Group reversed, again, right;
    MPI_Comm other;
    if (reverse(group, &reversed))
        return MPI_ERR_NO_MEM;
    int error = MPI_Comm_create_group(parent, reversed, tag, &other);
    MPI_Group_free(&reversed);
    if (error)
        return error;
    MPI_Comm_group(other, &again);
    error = reverse(again, &right) ? MPI_ERR_NO_MEM : MPI_Comm_create_group(other, right, tag, comm);
    MPI_Group_free(&again);
    if (error != MPI_ERR_NO_MEM)
        MPI_Group_free(&right);
    MPI_Comm_free(&other);
    return error;
}

static int create(MPI_Comm parent, MPI_Group group, int tag, MPI_Comm *comm)
{
    int size, all;
    MPI_Group_size(group, &size);
    MPI_Comm_size(parent, &all);
    return size < all ? create_apart(parent, group, tag, comm) : MPI_Comm_create_group(parent, group, tag, comm);
}

/* All of them make it in the same world, which stays until they have. */
static int make_together(MPI_Group group, const char *tag, MPI_Comm *comm, struct error *why)
{
    MPI_Group here;
    agent_await_joining();
    cJSON *message = meeting_of(group, tag, why), *answer = message ? question_ask(message, why) : NULL;
    if (!answer)
        return -1;
    agent_await_world(json_int(answer, "world", 0));
    struct agent_world *it = agent_world_take();
    int failed = make_group(it, cJSON_GetObjectItemCaseSensitive(answer, "members"), &here);
    if (!failed) {
        failed = create(it->comm, here, json_int(answer, "number", 0) % TAGS, comm);
        MPI_Group_free(&here);
    }
    agent_world_drop(it);
    cJSON_Delete(answer);
    question_tell(question("made"));
    return failed ? error_set(why, ERROR_FAILED, "MPI could not make the communicator") : 0;
}

/* In the world that there is: it changes nowhere but where all are. */
static int make_here(MPI_Group group, const char *tag, MPI_Comm *comm, struct error *why)
{
    agent_end_if_off();
    struct agent_world *it = present();
    int number = 0, error = MPI_SUCCESS, size, *ranks = ranks_of(group, it, &size);
    bool there = ranks;
    for (int i = 0; there && i < size; i++)
        there = ranks[i] != MPI_UNDEFINED;
    free(ranks);
    for (const char *p = tag; *p; p++)
        number = (number * 31 + (unsigned char)*p) % TAGS;
    if (there)
        error = MPI_Comm_create_group(it->comm, group, number, comm);
    agent_world_drop(it);
    if (!there)
        return error_set(why, ERROR_FAILED, "a process of the group is not in the present world");
    return error ? error_set(why, ERROR_FAILED, "MPI could not make the communicator") : 0;
}

static bool is_self(MPI_Group group)
{
    MPI_Group self;
    int result;
    MPI_Comm_group(MPI_COMM_SELF, &self);
    MPI_Group_compare(group, self, &result);
    MPI_Group_free(&self);
    return result == MPI_IDENT;
}

int epop__instead_MPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info,
                                             MPI_Errhandler errhandler, MPI_Comm *newcomm)
{
    struct error why;
    if (is_plain() || group == MPI_GROUP_NULL || group == MPI_GROUP_EMPTY || !stringtag || !newcomm)
        return MPI_Comm_create_from_group(group, stringtag, info, errhandler, newcomm);
    int failed = 0;
    if (is_self(group))
        MPI_Comm_dup(MPI_COMM_SELF, newcomm);
    else if (is_guest() || !agent_has_world())
        failed = make_here(group, stringtag, newcomm, &why);
    else
        failed = make_together(group, stringtag, newcomm, &why);
    if (failed)
        return part_wrong("MPI_Comm_create_from_group", MPI_ERR_GROUP, why.text);
    MPI_Comm_set_errhandler(*newcomm, errhandler);
    return MPI_SUCCESS;
}
