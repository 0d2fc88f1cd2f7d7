/*
 * Checks every window, and otherwise does what its arguments say:
 *
 * iterations=N         ends after so many; else it goes on until it is stopped
 * until=PATH           or until rank 0 finds this file
 * windows=N            not before so many windows, however many iterations that takes
 * work=US skew=US      sleeps so long in every iteration, and up to `skew` more at random
 * work-waits-while=PATH     and as long as this file is there
 * state=DIR            every process keeps the number of its iteration in DIR/PID, eight bytes
 * beside=yes           a thread beside makes and frees communicators all the time
 * memory=MB            every rank holds so much, in small pieces
 * ask=WHEN:SIZE:WHO    asks for a size in that iteration, in the first one after that window ("after1"), in "every"
 *                      one, or in "init", the first "window" or "end"; WHO: a rank, or "all"
 * release=WHEN:RANK    rank 0 asks in that iteration that this rank leaves and another takes its place
 * join-fails-while=PATH, join-waits-while=PATH     what INIT of a joining process does while that file is there
 * fault=KIND:WHO       what the adapt block does wrong, on ranks of that status or (a number) that rank of `all`; kill,
 *                      exit and abort end the process there, stop stops it,
 *                      late-stop after its commit
 * die=KIND:RANK:PATH   that rank of the world ends so when it finds this file
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "scenario.h"

#define PIECE 65536

struct scenario {
    int64_t iteration, windows, done; /* the same on every rank */
    arguments_t arguments;
    int64_t last_window; /* that this process has worked after */
    long iterations, least_windows, work, skew, pieces;
    char **memory;
    int64_t *state;
    unsigned seed;
};

/* A process has run INIT so many times since the program was loaded into it. */
static int inits;

static int give_back_memory(struct scenario *s)
{
    for (long i = 0; s->memory && i < s->pieces; i++)
        free(s->memory[i]);
    free(s->memory);
    s->memory = NULL;
    return 0;
}

static int take_memory(struct scenario *s)
{
    s->memory = calloc((size_t)s->pieces + 1, sizeof *s->memory);
    for (long i = 0; s->memory && i < s->pieces; i++)
        if ((s->memory[i] = malloc(PIECE)))
            memset(s->memory[i], 1, PIECE);
    /* What is never freed lies above all that is. */
    static void *volatile forgotten;
    forgotten = s->pieces ? malloc(PIECE) : NULL;
    return s->memory && (forgotten || !s->pieces) ? 0 : EPOP_ERR_MEMORY;
}

static struct {
    pthread_t thread;
    bool runs;
    atomic_bool ends;
} beside;

static void *make_communicators(void *unused)
{
    (void)unused;
    while (!beside.ends) {
        MPI_Comm made;
        MPI_Comm_split(MPI_COMM_SELF, 0, 0, &made);
        MPI_Comm_free(&made);
        usleep(200);
    }
    return NULL;
}

static int start_beside(const struct scenario *s)
{
    if (!text_argument(s->arguments, "beside", 0))
        return 0;
    beside.ends = false;
    beside.runs = !pthread_create(&beside.thread, NULL, make_communicators, NULL);
    return beside.runs ? 0 : EPOP_ERR_SYSTEM;
}

static void end_beside(void)
{
    beside.ends = true;
    if (beside.runs)
        pthread_join(beside.thread, NULL);
    beside.runs = false;
}

/* Where tests look up how far this process is. */
static int open_state(struct scenario *s)
{
    static int64_t nowhere;
    const char *directory = text_argument(s->arguments, "state", 0);
    char path[500];
    s->state = &nowhere;
    if (!directory)
        return 0;
    snprintf(path, sizeof path, "%s/%d", directory, (int)getpid());
    int file = open(path, O_RDWR | O_CREAT, 0600);
    void *page = ftruncate(file, 8) == 0 ? mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    close(file);
    if (page == MAP_FAILED)
        return EPOP_ERR_SYSTEM;
    s->state = page;
    return 0;
}

static void close_state(struct scenario *s)
{
    if (text_argument(s->arguments, "state", 0))
        munmap(s->state, 8);
}

/* The requests that are due now. */
static void ask(const struct scenario *s, const char *when)
{
    const char *text;
    for (int i = 0; (text = text_argument(s->arguments, "ask", i)); i++) {
        char moment[32], who[32];
        int size, rank = rank_in(epop_world());
        if (sscanf(text, "%31[^:]:%d:%31s", moment, &size, who) == 3 && !strcmp(moment, when) &&
            (!strcmp(who, "all") || atoi(who) == rank))
            epop_request_resize(size);
    }
}

/* Those of an iteration. */
static void ask_at_work(struct scenario *s)
{
    char when[40];
    snprintf(when, sizeof when, "%lld", (long long)s->iteration);
    ask(s, when);
    ask(s, "every");
    if (s->windows == s->last_window)
        return;
    s->last_window = s->windows;
    snprintf(when, sizeof when, "after%lld", (long long)s->windows);
    ask(s, when);
}

static void ask_for_migration(const struct scenario *s)
{
    const char *text = text_argument(s->arguments, "release", 0);
    long when;
    int rank;
    if (!text || rank_in(epop_world()) != 0 || sscanf(text, "%ld:%d", &when, &rank) != 2 || when != s->iteration)
        return;
    epop_request_t request = {.size = size_of(epop_world()), .release_ranks = &rank, .release_count = 1};
    epop_request(&request);
}

/* INIT may do with its arguments what it likes: the next one must get its own. */
static int copy_arguments(struct scenario *s, int *argc, char **argv)
{
    s->arguments = (arguments_t){.argc = *argc, .argv = calloc((size_t)*argc + 1, sizeof(char *))};
    if (!s->arguments.argv)
        return EPOP_ERR_MEMORY;
    for (int i = 0; i < *argc; i++) {
        s->arguments.argv[i] = strdup(argv[i]);
        memset(argv[i], '?', strlen(argv[i]));
    }
    *argc = 0;
    return 0;
}

static int join(const struct scenario *s)
{
    printf("joining in process %d\n", (int)getpid());
    fflush(stdout);
    wait_while_there(text_argument(s->arguments, "join-waits-while", 0));
    return exists(text_argument(s->arguments, "join-fails-while", 0)) ? 47 : 0;
}

/* What may not be done outside a window. */
static int check_outside(void)
{
    int wrong = 0;
    epop_window_t window;
    EXPECT(epop_adapt_begin(&window) == EPOP_ERR_STATE);
    EXPECT(epop_adapt_begin(NULL) == EPOP_ERR_ARGUMENT);
    EXPECT(epop_adapt_commit() == EPOP_ERR_STATE);
    EXPECT(epop_request_resize(0) == EPOP_ERR_ARGUMENT);
    EXPECT(epop_request_resize(-1) == EPOP_ERR_ARGUMENT);
    EXPECT(epop_request(NULL) == EPOP_ERR_ARGUMENT);
    EXPECT(epop_request(&(epop_request_t){0}) == EPOP_ERR_ARGUMENT);
    return wrong;
}

static int init(int *argc, char ***argv, void **data)
{
    struct scenario *s = calloc(1, sizeof *s);
    *data = s;
    if (!s || copy_arguments(s, argc, *argv) || open_state(s) || start_beside(s))
        return EPOP_ERR_MEMORY;
    s->iterations = argument(s->arguments, "iterations", 0);
    s->least_windows = argument(s->arguments, "windows", 0);
    s->work = argument(s->arguments, "work", 1000);
    s->skew = argument(s->arguments, "skew", 0);
    s->pieces = argument(s->arguments, "memory", 0) * (1 << 20) / PIECE;
    s->seed = (unsigned)getpid();
    printf("init %s rank %d of %d argc %d inits %d in process %d\n", status_name(epop_status()), rank_in(epop_world()),
           size_of(epop_world()), s->arguments.argc, ++inits, (int)getpid());
    fflush(stdout);
    int wrong = check_outside() + take_memory(s);
    ask(s, "init");
    if (wrong || epop_status() != EPOP_JOINING)
        return wrong;
    MPI_Barrier(epop_world()); /* the joiners' own */
    return join(s);
}

/* Not returning from a block, but ending the process. */
static void die(const char *kind)
{
    if (!strcmp(kind, "kill"))
        raise(SIGKILL);
    if (!strcmp(kind, "exit"))
        exit(9);
    if (!strcmp(kind, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 9);
    if (!strcmp(kind, "stop"))
        raise(SIGSTOP);
}

static void die_if_asked(const struct scenario *s)
{
    const char *text = text_argument(s->arguments, "die", 0);
    char kind[16], path[400];
    int rank;
    if (text && sscanf(text, "%15[^:]:%d:%399s", kind, &rank, path) == 3 && rank == rank_in(epop_world()) &&
        exists(path))
        die(kind);
}

static int work(void *data)
{
    struct scenario *s = data;
    const char *until = text_argument(s->arguments, "until", 0),
               *wait = text_argument(s->arguments, "work-waits-while", 0);
    ask_at_work(s);
    ask_for_migration(s);
    die_if_asked(s);
    nap(s->work + (s->skew ? rand_r(&s->seed) % s->skew : 0));
    while (exists(wait))
        nap(2000);
    if (until) {
        s->done = exists(until);
        MPI_Bcast(&s->done, 1, MPI_INT64_T, 0, epop_world());
    }
    *s->state = ++s->iteration;
    return check_outside();
}

static int more(void *data)
{
    const struct scenario *s = data;
    bool enough = s->iterations && s->iteration >= s->iterations && s->windows >= s->least_windows;
    return !s->done && !enough;
}

static bool my_fault(const struct scenario *s, const char *kind, const epop_window_t *w)
{
    const char *text = text_argument(s->arguments, "fault", 0);
    size_t length = strlen(kind);
    if (!text || strncmp(text, kind, length) || text[length] != ':')
        return false;
    const char *who = text + length + 1;
    return !strcmp(who, "all") || !strcmp(who, status_name(w->status)) ||
           (*who >= '0' && *who <= '9' && atoi(who) == rank_in(w->all));
}

/* In one piece: the lines of other processes may come in between. */
static void describe(const struct scenario *s, const epop_window_t *w)
{
    char ranks[200] = "";
    size_t length = 0;
    if (rank_in(w->all) != 0)
        return;
    for (int i = 0; i < w->old_size + w->joining; i++)
        length += (size_t)snprintf(ranks + length, sizeof ranks - length, " %d", w->new_ranks[i]);
    printf("window %lld: %d -> %d, %d stay, %d leave, %d join, iteration %lld, new ranks%s\n", (long long)s->windows,
           w->old_size, w->new_size, w->staying, w->leaving, w->joining, (long long)s->iteration, ranks);
    fflush(stdout);
}

static int check_same_iteration(const struct scenario *s, const epop_window_t *w)
{
    int wrong = 0;
    int64_t mine = w->status == EPOP_JOINING ? INT64_MAX : s->iteration, least, most;
    MPI_Allreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, w->all);
    mine = w->status == EPOP_JOINING ? 0 : s->iteration;
    MPI_Allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, w->all);
    EXPECT(least == most);
    return wrong;
}

static int check_after(const epop_window_t *w, const epop_window_t *before)
{
    int wrong = 0;
    EXPECT(epop_world() == before->after);
    EXPECT(epop_status() == w->status);
    EXPECT(epop_adapt_commit() == EPOP_ERR_STATE);
    return wrong;
}

static int leave(struct scenario *s)
{
    printf("leaving process %d\n", (int)getpid());
    fflush(stdout);
    end_beside();
    give_back_memory(s);
    close_state(s);
    for (int i = 0; i < s->arguments.argc; i++)
        free(s->arguments.argv[i]);
    free(s->arguments.argv);
    free(s);
    return 0;
}

static int adapt(void *data)
{
    static const char *const ends[] = {"kill", "exit", "abort", "stop"};
    struct scenario *s = data;
    epop_window_t window = {0}, again;
    int wrong = 0, error;
    if (text_argument(s->arguments, "fault", 0) && !strcmp(text_argument(s->arguments, "fault", 0), "commit-first"))
        return epop_adapt_commit();
    if ((error = epop_adapt_begin(&window)) || my_fault(s, "error", &window))
        return error ? error : 43;
    if (my_fault(s, "begin-twice", &window))
        return epop_adapt_begin(&again);
    if (my_fault(s, "no-commit", &window))
        return 0;
    for (int i = 0; i < 4; i++)
        if (my_fault(s, ends[i], &window))
            die(ends[i]);
    memset(&again, 0xff, sizeof again);
    EXPECT(epop_adapt_begin(&again) == EPOP_ERR_STATE);
    EXPECT(again.status == EPOP_NEW && again.new_size == 0 && again.after == MPI_COMM_NULL);
    wrong += check_window(&window) + check_same_iteration(s, &window);
    s->windows++;
    if ((error = epop_redist_replicated(&window, &s->iteration, 3, MPI_INT64_T)))
        return error;
    describe(s, &window);
    if (s->windows == 1)
        ask(s, "window");
    if (my_fault(s, "late-error", &window))
        return 44;
    again = window;
    if ((error = epop_adapt_commit()))
        return error;
    wrong += check_after(&window, &again);
    if (my_fault(s, "late-stop", &again))
        die("stop");
    return window.status == EPOP_LEAVING && !wrong ? leave(s) : wrong;
}

static int report(void *data)
{
    struct scenario *s = data;
    int wrong = 0, least, most, windows = (int)s->windows;
    end_beside();
    ask(s, "end");
    MPI_Allreduce(&windows, &least, 1, MPI_INT, MPI_MIN, epop_world());
    MPI_Allreduce(&windows, &most, 1, MPI_INT, MPI_MAX, epop_world());
    EXPECT(least == most && least == windows);
    say_end(windows, s->iteration);
    return wrong || give_back_memory(s);
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("scenario");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "work", work, adapt, more);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    return program;
}
