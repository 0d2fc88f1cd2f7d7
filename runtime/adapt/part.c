/* An executable's part in its job, from its start to its end, and how it goes on from a checkpoint. */
#include "runtime/adapt/part.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "epop/mpi_adapt.h"
#include "epop_api/sizes.h"
#include "interpose/interpose.h"
#include "runtime/adapt/first_probe.h"
#include "runtime/adapt/leaving.h"
#include "runtime/backends/device.h"
#include "runtime/base/array.h"
#include "runtime/base/ending.h"
#include "runtime/base/say.h"
#include "runtime/control/supervisor.h"
#include "runtime/describe/program.h"
#include "runtime/hydra/holders.h"
#include "runtime/job/follow.h"
#include "runtime/job/job.h"
#include "runtime/launch/engine.h"
#include "runtime/launch/mpiexec.h"
#include "runtime/world/backend.h"
#include "runtime/world/world.h"

static _Atomic enum part part; /* an agent writes it, too */
static bool sessions;

enum part part_now(void)
{
    return part;
}

void part_become(enum part next)
{
    part = next;
}

bool part_has_sessions(void)
{
    return sessions;
}

static bool is_fatal(MPI_Comm comm)
{
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(comm, &handler);
    bool is = handler == MPI_ERRORS_ARE_FATAL;
    MPI_Errhandler_free(&handler);
    return is;
}

/* A member whose error ends the job leaves that to the coordinator: if this process just aborted, its launcher could be
 * ended before it has handed the line on, and there would only be what the others say of a lost connection. */
int part_wrong(const char *function, int class, const char *why)
{
    int up;
    char text[256];
    MPI_Comm comm = interpose_world(MPI_COMM_WORLD);
    snprintf(text, sizeof text, "%s: %s", function, why);
    MPI_Initialized(&up);
    up = up && part != PART_FINALIZED;
    if (comm == MPI_COMM_NULL)
        comm = MPI_COMM_SELF;
    if (up && part == PART_MEMBER && is_fatal(comm))
        epop__job_fail(text);
    say_line("%s", text);
    if (up)
        MPI_Comm_call_errhandler(comm, class);
    return class;
}

/* ---- This executable ---------------------------------------------------------------------------- */

/* The command line as it was given, NULL at the end; kept for the process's life. NULL: it cannot be read. main's own
 * argv is not at hand: its pointers may be NULL in MPI_Init_adapt, or have been changed. */
static char **command_line(void)
{
    char *argument = NULL, **all = NULL;
    size_t length = 0, room = 0, count = 0;
    FILE *file = fopen("/proc/self/cmdline", "r");
    while (file && getdelim(&argument, &length, 0, file) >= 0) {
        if (array_reserve(&all, &room, count + 2, sizeof *all))
            break;
        all[count++] = argument;
        all[count] = NULL;
        argument = NULL;
        length = 0;
    }
    free(argument);
    if (file)
        fclose(file);
    if (!all)
        say_line("MPI_Init_adapt: cannot read this process's command line in /proc/self/cmdline");
    return all;
}

const char *part_program_path(char *text, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", text, size - 1);
    text[length < 0 ? 0 : length] = 0;
    return text;
}

const char *part_program_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static char *script; /* its name; NULL: the executable is the program */

bool part_interpret(const char *name)
{
    free(script);
    script = strdup(name);
    return script;
}

bool part_is_script(void)
{
    return script;
}

static struct sizes_rule rule; /* which numbers of ranks it accepts */
static bool ruled;             /* it has said so itself */

const char *part_accept(const char *text)
{
    const char *wrong = sizes_rule_read(&rule, text);
    ruled = !wrong;
    if (wrong)
        rule = (struct sizes_rule){0};
    return wrong;
}

/* By the environment. NULL, or what is wrong. */
static const char *read_rule(void)
{
    static char wrong[320];
    const char *text = getenv("EPOP_SIZES"), *why = text && !ruled ? sizes_rule_read(&rule, text) : NULL;
    if (why)
        snprintf(wrong, sizeof wrong, "EPOP_SIZES is '%.60s', which %s", text, why);
    return why ? wrong : NULL;
}

static int accepts_ranks(int size)
{
    return sizes_rule_accepts(&rule, size);
}

/* A list is a function: the model has no kind for it. */
static epop_sizes_t sizes_of_rule(void)
{
    epop_sizes_t sizes = rule.sizes;
    if (rule.count > 1) {
        sizes.kind = EPOP_SIZE_FUNCTION;
        sizes.accepts = accepts_ranks;
    }
    return sizes;
}

/* ---- Going on from a checkpoint ----------------------------------------------------------------- */

static int64_t probes_before; /* the first one of this process */
static bool data_is_missing, fault_is_told;

/* In MPI_Init_adapt of a job that goes on: its first probe is that of the checkpoint. Local. */
static void restart_begin(const struct elastic *e)
{
    probes_before = e->restarts(e->context)->iteration - 1;
    data_is_missing = true;
}

int64_t part_probes_before(void)
{
    return probes_before;
}

void part_describe(const struct elastic *e, void (*block)(void *data, epop_description_t *d), void *data, bool joins)
{
    struct position unused;
    describe_program.describe = block;
    describe_program.data = data;
    describe_program.whole = !joins && !data_is_missing;
    if (data_is_missing)
        e->restart(e->context, &unused);
    data_is_missing = false;
}

bool part_awaits_data(void)
{
    return data_is_missing;
}

bool part_fault_is_news(void)
{
    return !fault_is_told && supervisor_recoveries() && !epop__job_joins();
}

void part_tell_fault(MPI_Info *info)
{
    char times[16];
    bool tells = info && part_fault_is_news();
    fault_is_told = true;
    if (!tells)
        return;
    snprintf(times, sizeof times, "%d", supervisor_recoveries());
    if (*info == MPI_INFO_NULL)
        MPI_Info_create(info);
    MPI_Info_set(*info, MPI_ADAPT_FAULT_KEY, times);
}

/* ---- Start and end ---------------------------------------------------------------- */

/* How the coordinator sees an executable: one phase that goes on from the first probe to MPI_Finalize. `rigid`: at this
 * size alone; 0: at any that it accepts. */
static epop_program_t *description(const char *path, int rigid)
{
    static epop_element_t loop = {.type = EPOP_EP, .name = "main"};
    static epop_program_t program = {.size = 1, .elements = &loop, .abi_version = EPOP_ABI_VERSION, .finalizer = -1};
    program.name = script ? script : part_program_name(path);
    program.sizes = sizes_of_rule();
    if (rigid) {
        loop.type = EPOP_RP;
        program.sizes = (epop_sizes_t){.min = rigid, .max = rigid};
    }
    return &program;
}

/* One whose processes end when they leave; where there is none, leaving ones wait in MPI_Finalize. */
static const char *choose_backend(void)
{
    struct error reason = {0};
    static const char *const wanted[] = {"join", "shrink"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct backend_wish wish = {.name = wanted[i]};
        if (backend_find(&wish, &reason))
            return wanted[i];
    }
    return "auto";
}

/* The part of a joiner begins when all that were started with it are here. */
static void become_joiner(void)
{
    part = PART_JOINER;
    if (epop__job_next() == JOB_JOIN && epop__job_join(NULL))
        return;
    const struct elastic *e = epop__job_elastic();
    struct position at;
    e->join(e->context, "another joining process could not start", &at);
    epop__job_leave();
}

static int finalized(int *flag);

/* Of launchers of joining processes that did not end well. */
static int others_status;

static void (*session_ended)(int status);

static bool has_left; /* and ends alone: its status is nobody's affair */

enum { EXIT_REFUSED = 2 }; /* of a restart, as epop does */

static void exit_with(int status) __attribute__((noreturn));
static void exit_with(int status)
{
    fflush(NULL);
    ending_quit(status);
}

/* MPI_Finalize cannot tell what became of the others, and main() knows nothing of it. Handlers that main() registered
 * have run by now. */
static void on_exit_of_main(int status)
{
    char text[120];
    if (sessions && session_ended) {
        session_ended(status);
    } else if (part == PART_MEMBER) {
        snprintf(text, sizeof text, "rank %d called exit(%d), or returned from main, before MPI_Finalize", world.rank,
                 status);
        epop__job_exits(text);
    }
    if (part == PART_FINALIZED || has_left)
        holders_end();
    if (!status && others_status)
        exit_with(others_status);
}

static const char *what_quits(const char *call)
{
    static char text[80];
    snprintf(text, sizeof text, "rank %d called %s before %s", world.rank, call,
             sessions ? "exit or the end of main" : "MPI_Finalize");
    return part == PART_MEMBER ? text : NULL;
}

static const struct job_exits exits = {.exits = on_exit_of_main, .quits = what_quits};

/* For those who say where this process is: size 0: it has not joined yet, -1: it has left. */
void part_locate(int rank, int size)
{
    const struct elastic *e = epop__job_elastic();
    atomic_store(&e->live->rank, rank);
    atomic_store(&e->live->size, size);
}

/* In a program that began with sessions there is no world that does not change: nothing to initialize. */
static int no_init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return part_wrong(
        "MPI_Init", MPI_ERR_OTHER,
        "this program began with MPI_Session_init, whose jobs have no MPI_COMM_WORLD; call MPI_Init before");
}

static int no_init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)required;
    (void)provided;
    return no_init(argc, argv);
}

static int not_initialized(int *flag)
{
    *flag = 0;
    return MPI_SUCCESS;
}

static int not_finalized(int *flag)
{
    *flag = 0;
    return MPI_SUCCESS;
}

static int no_finalize(void)
{
    return part_wrong("MPI_Finalize", MPI_ERR_OTHER, "this program has sessions; MPI_Session_finalize ends them");
}

/* The calls that begin and end MPI. */
static void take_over(void)
{
    if (sessions) {
        interpose_life.init = no_init;
        interpose_life.init_thread = no_init_thread;
        interpose_life.initialized = not_initialized;
        interpose_life.finalize = no_finalize;
        interpose_life.finalized = not_finalized;
        return;
    }
    interpose_life.finalize = part_finalize;
    interpose_life.finalized = finalized;
}

/* The path of a file, wherever the program goes. */
static const char *as_it_is_now(const char *path)
{
    static char absolute[2 * PATH_MAX];
    char directory[PATH_MAX];
    if (!*path || *path == '/' || !strcmp(path, "-") || !getcwd(directory, sizeof directory))
        return path;
    snprintf(absolute, sizeof absolute, "%s/%s", directory, path);
    return absolute;
}

/* Can what is measured be written in the end? It is no use to run for hours first. */
static const char *what_is_unwritable(const char *path)
{
    static char text[PATH_MAX + 100];
    bool was_there = !access(path, F_OK);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) {
        snprintf(text, sizeof text, "what is measured cannot be written to '%s': %s", path, strerror(errno));
        return text;
    }
    close(file);
    if (!was_there)
        unlink(path);
    return NULL;
}

/* What is wrong with the environment, or NULL. */
static const char *what_is_unfit(int process, const char *measure_to)
{
    const char *text = first_probe_read();
    if (!text)
        text = leaving_read();
    if (!text)
        text = read_rule();
    if (!text && process == 0 && measure_to && *measure_to && strcmp(measure_to, "-"))
        text = what_is_unwritable(measure_to);
    return text;
}

/* MPI may be up; none of these processes is a rank of the job that was meant. */
static void refuse_foreign(void)
{
    char line[MPIEXEC_LINE];
    bool speaks;
    engine_for(device_read().maker);
    if (!mpiexec_is_foreign(line, sizeof line, &speaks))
        return;
    if (speaks)
        say_line("%s", line);
    ending_quit(EXIT_FAILURE);
}

int part_begin(int *argc, char ***argv, enum part_program of, void (*ended)(int status))
{
    static char path[PATH_MAX];
    int up, process, processes, error = MPI_SUCCESS;
    sessions = of == PART_OF_SESSIONS;
    struct job_options options = {JOB_OPTIONS_USUAL, .finish_timeout = 30, .executable = true, .sessions = sessions};
    if (of == PART_OF_WATCHED || (part_watch() && *part_watch()))
        options.measure_to = as_it_is_now(part_watch());
    session_ended = ended;
    options.command = command_line();
    options.path = part_program_path(path, sizeof path);
    options.checkpoint.arguments = options.command;
    refuse_foreign();
    MPI_Initialized(&up);
    if (!up)
        error = job_init_mpi(&options, argc, argv);
    if (error)
        return error;
    epop__job_init(&options, &process, &processes);
    if (!epop__job_all_loaded(what_is_unfit(process, options.measure_to)))
        exit(EXIT_FAILURE);
    options.finish_timeout += leaving_seconds();
    options.backend = choose_backend();
    const epop_program_t *program = description(path, of == PART_OF_WATCHED ? processes : 0);
    if (!options.command || epop__job_start(&options, program)) /* it has said why */
        exit(getenv("EPOP_RESTART") ? EXIT_REFUSED : EXIT_FAILURE);
    epop__job_watch_exit(&exits);
    take_over();
    const struct elastic *e = epop__job_elastic();
    part_locate(world.rank, epop__job_joins() ? 0 : world.size);
    atomic_store(&e->live->program, program);
    atomic_store(&e->live->visit, 1);
    atomic_store(&e->live->pc, 0);
    epop__tally_open(&e->live->tally, program->size);
    part = PART_MEMBER;
    if (world.status == EPOP_RESTARTING)
        restart_begin(e);
    if (epop__job_joins())
        become_joiner();
    else
        epop__job_next();
    return MPI_SUCCESS;
}

/* In a process that left while the others go on, or in all at the end. */
int part_finalize(void)
{
    if (part == PART_FINALIZED || world.state != WINDOW_NONE)
        return part_wrong("MPI_Finalize", MPI_ERR_OTHER,
                          part == PART_FINALIZED ? "it was called before" : "an adaptation is open; commit it before");
    const struct elastic *e = epop__job_elastic();
    struct position at;
    bool parked = part == PART_LEFT && !epop__job_leaves(0),
         alone = part == PART_JOINER || (part == PART_LEFT && !parked);
    if (part == PART_JOINER) {
        e->join(e->context, "the joining process came to MPI_Finalize before it had joined", &at);
        epop__job_detach();
    }
    follow_end();
    if (part == PART_MEMBER)
        epop__job_ended();
    else if (parked)
        epop__job_next();
    if (part == PART_JOINER)
        engine()->finalize();
    else if (alone)
        engine_done();
    if (!alone)
        others_status = epop__job_finalize();
    part = PART_FINALIZED;
    return MPI_SUCCESS;
}

static int finalized(int *flag)
{
    *flag = part == PART_FINALIZED;
    return MPI_SUCCESS;
}

void part_end(void)
{
    others_status = epop__job_finalize();
    part = PART_FINALIZED;
}

int part_rank(void)
{
    return atomic_load(&epop__job_elastic()->live->rank);
}

int part_others_status(void)
{
    return others_status;
}

static epop_progress_t said; /* by the program's thread */
static bool has_said;

void part_set_progress(int64_t iteration, int64_t bound)
{
    said = (epop_progress_t){.iteration = iteration, .bound = bound};
    has_said = true;
}

epop_progress_t part_progress(int64_t count)
{
    return has_said ? said : (epop_progress_t){.iteration = count};
}

enum action part_hold(const struct elastic *e, int64_t count)
{
    struct position at = {.pc = 0, .visit = 1, .iteration = count};
    enum action action;
    while ((action = e->hold(e->context, &at, 0)) == ACTION_PROGRESS || action == ACTION_CHECKPOINT) {
        const epop_progress_t progress = part_progress(count);
        if (action == ACTION_PROGRESS)
            e->report_progress(e->context, &progress);
        else
            e->checkpoint(e->context, &at);
    }
    return action;
}

void part_depart(void)
{
    part = PART_LEFT;
    part_locate(-1, -1);
    has_left = epop__job_leaves(0);
    if (has_left) {
        epop__job_detach();
        leaving_begin();
    } else {
        epop__job_parked(0);
    }
}
