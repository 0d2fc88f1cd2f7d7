/*
 * PRRTE, Open MPI's engine. A process talks to it by PMIx, whose library Open MPI has brought into the process. Its
 * mpiexec starts the processes of its own host itself, and sees the end of what it has sent to others. A further one
 * has its processes started by the servers of the first, or by those of a prte (its "DVM"): those of two DVMs cannot be
 * connected.
 */
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/proctree.h"
#include "runtime/base/thread.h"
#include "runtime/launch/engine.h"

#define SERVER    "PMIX_SERVER_URI" /* and a version: several variables with the same value */
#define OF_PRRTE  "prte"            /* its servers' names begin so */
#define OF_RUN    "prterun"         /* likewise of a DVM that is mpiexec's own, which shows what its processes print */
#define NO_FENCE  "OMPI_MCA_async_mpi_finalize"
#define LATE      SIGALRM /* ends what does not expect it, and mpiexec hands it on */
#define LATE_NAME "SIGALRM"

enum {
    ANCESTORS = 8,  /* a script or two may stand between the server and this process */
    LIVES_MOST = 16 /* sessions, and whatever else calls PMIx_Init: each has to be undone */
};

typedef int finalize_call(void);
typedef int finalized_call(int *is);
typedef int initialized_call(void);
typedef int end_call(const void *info, size_t count);

static void *find(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

static bool can_leave(void)
{
    return getenv("PMIX_RANK");
}

static void prepare(void)
{
    setenv(NO_FENCE, "1", 1);
}

static void end_mpi(void)
{
    finalize_call *end;
    finalized_call *ended;
    int is = 1;
    *(void **)&ended = find("PMPI_Finalized");
    *(void **)&end = find("PMPI_Finalize");
    if (!ended(&is) && !is)
        end();
}

/* Sessions that the program has not finalized keep it. */
static void end_pmix(void)
{
    initialized_call *initialized;
    end_call *end;
    *(void **)&initialized = find("PMIx_Initialized");
    *(void **)&end = find("PMIx_Finalize");
    for (int i = 0; initialized && end && i < LIVES_MOST && initialized(); i++)
        end(NULL, 0);
}

/*
 * MPI_Finalize, which is local then (prepare): PRRTE takes the end for a good one, and a connection that Open MPI has
 * over TCP closes with a word to its other end, which ends its job else ("Socket closed"). For communicators of several
 * launches that the program has not freed it waits some seconds.
 */
static void finalize(void)
{
    if (!can_leave())
        return;
    end_mpi();
    end_pmix();
}

static bool never_failed(pid_t mpiexec, char *name, size_t name_size, int *status)
{
    (void)mpiexec, (void)name, (void)name_size, (void)status;
    return false;
}

static bool never_alone(pid_t mpiexec)
{
    (void)mpiexec;
    return false;
}

/* ---- Its end ---------------------------------------------------------------------------- */

static bool is_server(void *context, const struct proc *proc)
{
    (void)context;
    return !strncmp(proc->name, OF_PRRTE, strlen(OF_PRRTE));
}

/* One that is killed leaves its processes running, and PMIx does not tell them. */
static void *end_with_server(void *descriptor)
{
    struct pollfd end = {.fd = (int)(intptr_t)descriptor, .events = POLLIN};
    while (poll(&end, 1, -1) < 0)
        ;
    kill(getpid(), SIGKILL);
    return NULL;
}

static void follow(void)
{
    struct proc server;
    int descriptor = proctree_upwards(getppid(), ANCESTORS, is_server, NULL, &server) ? proctree_watch(&server.id) : -1;
    if (descriptor >= 0 && thread_start(NULL, end_with_server, (void *)(intptr_t)descriptor))
        close(descriptor); /* it does without */
}

/* ---- A further mpiexec ------------------------------------------------------------------ */

/* As "prterun-HOST-1@0.0;tcp4://..."; NULL: PRRTE has not started this process. */
static const char *server(void)
{
    for (char **variable = environ; *variable; variable++) {
        const char *value = strchr(*variable, '=');
        if (value && !strncmp(*variable, SERVER, strlen(SERVER)) && !strncmp(value + 1, OF_PRRTE, strlen(OF_PRRTE)))
            return value + 1;
    }
    return NULL;
}

static int can_start(struct error *reason)
{
    if (can_leave() && server())
        return 0;
    return error_set(reason, ERROR_FAILED, "the launcher is not PRRTE, by which processes would be started");
}

static const char *const variables[] = {"PMIX_",
                                        "PRTE_LAUNCHED=",
                                        "PRTE_MCA_PREFIXES=",
                                        "OMPI_COMM_WORLD_",
                                        "OMPI_WORLD_",
                                        "OMPI_UNIVERSE_SIZE=",
                                        "OMPI_NUM_APP_CTX=",
                                        "OMPI_APP_CTX_NUM_PROCS=",
                                        "OMPI_FIRST_RANKS=",
                                        "OMPI_FILE_LOCATION=",
                                        "OMPI_COMMAND=",
                                        "OMPI_ARGV=",
                                        "OMPI_MCA_initial_wdir=",
                                        "OMPI_MCA_num_procs=",
                                        "OMPI_MCA_num_restarts=",
                                        NULL};

/*
 * Where it is, all of the environment, and no more than EPOP itself says of places, cores and input. What becomes of
 * the job when one of these processes dies is EPOP's affair, too ("recoverable"): PRRTE would end all jobs that are
 * connected, or count the death of one that is not as the job's.
 */
static int options(char *options[ENGINE_OPTIONS_MAX])
{
    static char of_dvm[] = "--dvm", by[] = "--map-by", anyhow[] = "node:oversubscribe", bound[] = "--bind-to",
                none[] = "none", input[] = "--stdin", forward[] = "--forward-signals", late[] = LATE_NAME,
                with[] = "-x", faults[] = "--runtime-options", ours[] = "recoverable,report-child-jobs-separately",
                all[] = "*", root[] = "--allow-run-as-root";
    char *const words[] = {by, anyhow, bound, none, input, none, forward, late, faults, ours, with, all};
    int count = 0;
    char *where;
    if (!server() || asprintf(&where, "uri:%s", server()) < 0)
        return 0;
    options[count++] = of_dvm;
    options[count++] = where;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        options[count++] = words[i];
    if (!geteuid())
        options[count++] = root;
    return count;
}

static bool shows(void)
{
    return server() && !strncmp(server(), OF_RUN, strlen(OF_RUN));
}

const struct engine engine_prrte = {
    .maker = "Open MPI",
    .name = "the launcher of Open MPI",
    .mpiexec = "mpiexec.openmpi",
    .signs = {"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    .size = "OMPI_COMM_WORLD_SIZE",
    .rank = "OMPI_COMM_WORLD_RANK",
    .local_size = "OMPI_COMM_WORLD_LOCAL_SIZE",
    .local_rank = "OMPI_COMM_WORLD_LOCAL_RANK",
    .host_option = "--host",
    .prepare = prepare,
    .follow = follow,
    .can_leave = can_leave,
    .finalize = finalize,
    .ends_mpi = true,
    .failed = never_failed,
    .is_alone = never_alone,
    .can_start = can_start,
    .options = options,
    .variables = variables,
    .end = LATE,
    .session = true, /* PRRTE ends a process with its group, and never ends itself if that mpiexec was in it */
    .counts = true,
    .forgets = true, /* its server there does: PMIx_Connect is "not found" */
    .shows = shows,
};
