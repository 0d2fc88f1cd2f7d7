/*
 * What a change of the number of processes costs a program, by phases, for programs that have process sets, beside the
 * elastic MPI calls and MPI_Comm_spawn: the synthetic loop and the shallow-water loop of chapter 8 of D. Huber (TU
 * Muenchen 2021). Each round grows by DELTA and shrinks again. A line of JSON for each change.
 *     psets psets|psets-late|adapt|adapt-late|spawn|still|still-plain synthetic|water ROUNDS DELTA [SIZE [WAIT [LIMIT
 * EVERY]]] late: processes that are taken out end some time later, so that the others have the cores until the change
 * is through. What an iteration takes where nothing changes: still by process sets, still-plain in MPI alone. WAIT:
 * seconds that accepting a change waits for new processes, 10; with 0 iterations go on until they are there. LIMIT:
 * instead of rounds so many iterations, and after every EVERY of them a change by DELTA towards this size. Then there
 * is a line for each iteration, too.
 */
#include <epop/epop.h>
#include <epop/mpi_adapt.h>
#include <epop/mpi_psets.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct state {
    int change, changes, delta, start;
    int limit, every, iteration; /* limit 0: changes in turns */
    int before;                  /* size before the present change */
    long size;                   /* points, or cells of a side */
    double *water;               /* this process's rows: height, and two momenta, of each cell; or NULL */
};

enum { LATE_US = 20000 };

static MPI_Comm comm = MPI_COMM_NULL;
static int rank, size;
static bool water;
static struct state state;

/* What root has measured of the present change, in seconds, and of the present iteration. */
static struct {
    double query, operation, accept, communicator, data, total;
    double started, session; /* until the last new process began, and the longest initialization of one */
    double work, sync;
    int pending; /* iterations while it was accepted */
} took;

static const char *patience = "10";
static double began_at, asked_at; /* seconds since 1970: this process, and the present change */

static double wall(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void use(MPI_Comm next)
{
    comm = next;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
}

/* ---- The loops --------------------------------------------------------------------------- */

enum { FIELDS = 3 };

static int64_t rows_of(int of, int ranks)
{
    return of < ranks ? epop_dist_local_count(epop_dist_block(state.size), of, ranks) : 0;
}

static int64_t first_of(int of, int ranks)
{
    return of < ranks && rows_of(of, ranks) ? epop_dist_global(epop_dist_block(state.size), of, ranks, 0) : state.size;
}

static void fill(void)
{
    int64_t rows = rows_of(rank, size), first = first_of(rank, size);
    state.water = calloc((size_t)(rows * state.size * FIELDS + 1), sizeof(double));
    for (int64_t i = 0; i < rows * state.size; i++) {
        double x = (double)(i % state.size) - (double)state.size / 2,
               y = (double)(first + i / state.size) - (double)state.size / 2;
        state.water[i * FIELDS] = x * x + y * y < (double)(state.size * state.size) / 16 ? 2 : 1; /* a radial dam */
    }
}

/* Room for that many numbers, which stays: new memory for each iteration would be most of its time. */
static double *old_water(size_t count)
{
    static double *room;
    static size_t size_of_room;
    if (count != size_of_room) {
        free(room);
        room = calloc(count, sizeof *room);
        size_of_room = count;
    }
    return room;
}

/* One step of Lax and Friedrichs, with the rows of the neighbours. */
static void flow(void)
{
    int64_t rows = rows_of(rank, size), n = state.size, width = n * FIELDS;
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL,
        down = rank < size - 1 && rows_of(rank + 1, size) ? rank + 1 : MPI_PROC_NULL;
    double *old = old_water((size_t)((rows + 2) * width)), *new = state.water;
    if (!rows)
        up = down = MPI_PROC_NULL;
    memcpy(old + width, new, (size_t)(rows * width) * sizeof *old);
    memcpy(old, new, rows ? (size_t)width * sizeof *old : 0);
    memcpy(old + (rows + 1) * width, old + rows * width, (size_t)width * sizeof *old);
    MPI_Sendrecv(old + width, (int)width, MPI_DOUBLE, up, 0, old + (rows + 1) * width, (int)width, MPI_DOUBLE, down, 0,
                 comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(old + rows * width, (int)width, MPI_DOUBLE, down, 1, old, (int)width, MPI_DOUBLE, up, 1, comm,
                 MPI_STATUS_IGNORE);
    for (int64_t r = 1; r <= rows; r++)
        for (int64_t c = 0; c < n; c++) {
            const double *w = old + (r * n + (c ? c - 1 : c)) * FIELDS,
                         *e = old + (r * n + (c + 1 < n ? c + 1 : c)) * FIELDS, *s = old + ((r - 1) * n + c) * FIELDS,
                         *t = old + ((r + 1) * n + c) * FIELDS;
            double *here = new + ((r - 1) * n + c) * FIELDS;
            const double step = 0.05, g = 9.81;
            double ew = e[1] * e[1] / e[0] + g / 2 * e[0] * e[0], ww = w[1] * w[1] / w[0] + g / 2 * w[0] * w[0];
            double tt = t[2] * t[2] / t[0] + g / 2 * t[0] * t[0], ss = s[2] * s[2] / s[0] + g / 2 * s[0] * s[0];
            here[0] = (w[0] + e[0] + s[0] + t[0]) / 4 - step * (e[1] - w[1] + t[2] - s[2]);
            here[1] = (w[1] + e[1] + s[1] + t[1]) / 4 - step * (ew - ww + t[1] * t[2] / t[0] - s[1] * s[2] / s[0]);
            here[2] = (w[2] + e[2] + s[2] + t[2]) / 4 - step * (e[1] * e[2] / e[0] - w[1] * w[2] / w[0] + tt - ss);
        }
}

static long count(void)
{
    long inside = 0, first = state.size / size * rank,
         end = rank + 1 == size ? state.size : state.size / size * (rank + 1);
    for (long i = first; i < end; i++) {
        double t = 20.0 * (double)i / (double)state.size, x = 3 * t + 1, y = -0.5 * t * t + 9 * t;
        inside += x > 10 && x < 50 && y > 5 && y < 30;
    }
    return inside;
}

static double work(void)
{
    double before = MPI_Wtime();
    MPI_Barrier(comm);
    double begin = MPI_Wtime();
    volatile long result = 0;
    if (water)
        flow();
    else
        result = count();
    (void)result;
    double end = MPI_Wtime();
    MPI_Barrier(comm);
    took.work = end - begin;
    took.sync = begin - before + MPI_Wtime() - end;
    return MPI_Wtime() - begin;
}

/* An iteration, with what it took besides its work; gives what the latter took. */
static double iterate(double overhead, bool pending)
{
    double step = work();
    if (rank == 0 && state.limit)
        printf("{\"iteration\": %d, \"ranks\": %d, \"pending\": %d, \"overhead_ms\": %.4f, \"work_ms\": %.4f, "
               "\"sync_ms\": %.4f}\n",
               state.iteration, size, pending, overhead * 1e3, took.work * 1e3, took.sync * 1e3);
    state.iteration++;
    return step;
}

/* The rows from as many of the first processes of `all` to others. */
static void move(MPI_Comm all, int before, int after)
{
    int own, ranks;
    MPI_Comm_rank(all, &own);
    MPI_Comm_size(all, &ranks);
    int *counts = calloc((size_t)ranks * 4, sizeof *counts), *given = counts + ranks, *got = given + ranks,
        *from = got + ranks;
    int64_t a = first_of(own, before), b = a + rows_of(own, before), c = first_of(own, after),
            d = c + rows_of(own, after);
    for (int r = 0; r < ranks; r++) {
        int64_t first = first_of(r, after), end = first + rows_of(r, after), low = a > first ? a : first,
                high = b < end ? b : end;
        counts[r] = high > low ? (int)(high - low) : 0;
        given[r] = high > low ? (int)(low - a) : 0;
        first = first_of(r, before), end = first + rows_of(r, before), low = c > first ? c : first,
        high = d < end ? d : end;
        got[r] = high > low ? (int)(high - low) : 0;
        from[r] = high > low ? (int)(low - c) : 0;
    }
    double *next = calloc((size_t)((d - c) * state.size * FIELDS + 1), sizeof *next);
    MPI_Datatype row;
    MPI_Type_contiguous((int)state.size * FIELDS, MPI_DOUBLE, &row);
    MPI_Type_commit(&row);
    MPI_Alltoallv(state.water, counts, given, row, next, got, from, row, all);
    MPI_Type_free(&row);
    free(counts);
    free(state.water);
    state.water = next;
}

/* ---- A change --------------------------------------------------------------------------------- */

static int wanted(void)
{
    if (!state.limit)
        return state.change % 2 ? state.start : state.start + state.delta;
    if (state.limit > size)
        return size + state.delta < state.limit ? size + state.delta : state.limit;
    return size - state.delta > state.limit ? size - state.delta : state.limit;
}

static bool is_due(void)
{
    return !state.limit || (size != state.limit && state.iteration && state.iteration % state.every == 0);
}

static bool is_over(void)
{
    return state.limit ? state.iteration >= state.changes / 2 : state.change >= state.changes;
}

static void report(const char *interface, int before, double step)
{
    if (rank == 0)
        printf("{\"interface\": \"%s\", \"loop\": \"%s\", \"from\": %d, \"to\": %d, \"query_ms\": %.4f, "
               "\"operation_ms\": %.4f, "
               "\"accept_ms\": %.4f, \"communicator_ms\": %.4f, \"data_ms\": %.4f, \"total_ms\": %.4f, \"step_ms\": "
               "%.4f, \"started_ms\": %.4f, \"session_ms\": %.4f, \"pending\": %d}\n",
               interface, water ? "water" : "synthetic", before, size, took.query * 1e3, took.operation * 1e3,
               took.accept * 1e3, took.communicator * 1e3, took.data * 1e3, took.total * 1e3, step * 1e3,
               took.started * 1e3, took.session * 1e3, took.pending);
    fflush(stdout);
}

static void share(MPI_Comm with, bool joins)
{
    double *own = state.water;
    MPI_Bcast(&state, (int)sizeof state, MPI_BYTE, 0, with);
    state.water = joins ? calloc(1, sizeof(double)) : own;
}

/* By process sets. */
static MPI_Session session;
static char main_pset[MPI_MAX_PSET_NAME_LEN] = "mpi://WORLD";

static void make_comm(void)
{
    MPI_Group group;
    MPI_Comm next;
    MPI_Group_from_session_pset(session, main_pset, &group);
    MPI_Comm_create_from_group(group, "bench", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &next);
    MPI_Group_free(&group);
    use(next);
}

/* By root: asks for it, and waits until it is announced. */
static void announce(char *delta, char *next)
{
    MPI_rc_type type;
    MPI_rc_status_t status = MPI_RC_STATUS_NULL;
    bool incl;
    double begin = MPI_Wtime();
    while (epop_request_resize(wanted()) == EPOP_OK && status != MPI_RC_STATUS_ANNOUNCED)
        MPI_Session_get_res_change(session, &type, delta, &incl, &status, NULL);
    took.query = MPI_Wtime() - begin;
    begin = MPI_Wtime();
    MPI_Session_pset_create_op(session, MPI_INFO_NULL, type == MPI_RC_ADD ? MPI_PSETOP_UNION : MPI_PSETOP_DIFFERENCE,
                               main_pset, delta, next);
    took.operation = MPI_Wtime() - begin;
}

/* Of the new processes, at root. */
static void ask_joiners(double session_took)
{
    double mine[] = {session_took ? began_at : 0, session_took}, most[2];
    MPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, comm);
    took.started = most[0] ? most[0] - asked_at : 0;
    took.session = most[1];
}

/* Until the change goes on. Gives what was spent in the present iteration, of which `spent` was before. */
static double accept_change(char *delta, char *next, int *terminate, double spent)
{
    int code;
    MPI_Info info;
    MPI_Info_create(&info);
    bool waits = atof(patience) > 0 || (water && wanted() < size); /* whose rows have gone to others already */
    MPI_Info_set(info, MPI_RC_TIMEOUT, waits ? "10" : "0");
    took.accept = 0;
    took.pending = 0;
    for (;;) {
        double begin = MPI_Wtime(), call;
        code = MPI_Session_accept_res_change(session, info, delta, next, 0, comm, terminate);
        call = MPI_Wtime() - begin;
        took.accept += call;
        spent += call;
        if (code != MPI_ERR_PENDING)
            break;
        if (waits)
            continue;
        iterate(spent, true);
        took.pending++;
        spent = 0;
    }
    MPI_Info_free(&info);
    if (code != MPI_SUCCESS)
        abort();
    return spent;
}

/* False: this process is taken out. */
static bool change_psets(void)
{
    char delta[MPI_MAX_PSET_NAME_LEN] = "", next[MPI_MAX_PSET_NAME_LEN] = "";
    int before = state.before = size, terminate = 0;
    double begin = MPI_Wtime(), data = 0, spent;
    asked_at = wall();
    if (rank == 0)
        announce(delta, next);
    spent = MPI_Wtime() - begin;
    if (water && wanted() < before) {
        data = MPI_Wtime();
        move(comm, before, wanted());
        data = MPI_Wtime() - data;
    }
    spent = accept_change(delta, next, &terminate, spent);
    if (terminate)
        return false;
    strcpy(main_pset, next);
    double after = MPI_Wtime();
    make_comm();
    took.communicator = MPI_Wtime() - after;
    share(comm, false);
    spent += MPI_Wtime() - after;
    after = MPI_Wtime();
    if (water && size > before)
        move(comm, before, size);
    took.data = data + MPI_Wtime() - after;
    took.total = MPI_Wtime() - begin - took.data;
    ask_joiners(0);
    report("psets", before, iterate(spent, false));
    return true;
}

static void join_psets(void)
{
    char delta[MPI_MAX_PSET_NAME_LEN];
    MPI_rc_type type;
    MPI_rc_status_t status;
    bool incl;
    double begin = MPI_Wtime();
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    double init = MPI_Wtime() - begin;
    MPI_Session_get_res_change(session, &type, delta, &incl, &status, NULL);
    bool joins = type != MPI_RC_NULL && incl;
    if (joins)
        MPI_Session_confirm_res_change(session, MPI_INFO_NULL, delta, main_pset);
    make_comm();
    if (!joins)
        return;
    share(comm, true);
    if (water)
        move(comm, state.before, size);
    ask_joiners(init);
    iterate(0, false);
    state.change++;
}

/* By the elastic MPI calls. */
static bool adapt(int status)
{
    int staying, leaving, joining;
    double begin = MPI_Wtime();
    epop_window_t window;
    MPI_Comm between, next;
    MPI_Comm_adapt_begin(&between, &next, &staying, &leaving, &joining);
    epop_mpi_window(&window);
    share(window.all, status == MPI_ADAPT_STATUS_JOINING);
    double data = MPI_Wtime();
    if (water)
        move(window.all, window.old_size, window.new_size);
    took.data = MPI_Wtime() - data;
    MPI_Comm_adapt_commit();
    took.communicator = MPI_Wtime() - begin - took.data;
    if (status == MPI_ADAPT_STATUS_LEAVING)
        return false;
    use(MPI_COMM_WORLD);
    if (status == MPI_ADAPT_STATUS_JOINING) {
        MPI_Barrier(comm);
        iterate(0, false);
        state.change++;
    }
    return true;
}

static bool change_adapt(void)
{
    int pending = MPI_ADAPT_FALSE, status = 0, before = size;
    double begin = MPI_Wtime();
    while (pending == MPI_ADAPT_FALSE) {
        epop_request_resize(wanted());
        MPI_Probe_adapt(&pending, &status, NULL);
        if (pending == MPI_ADAPT_FALSE) {
            usleep(200); /* as the others wait: those that start need the cores */
            MPI_Barrier(comm);
        }
    }
    took.accept = MPI_Wtime() - begin;
    if (!adapt(status))
        return false;
    double first = MPI_Wtime();
    MPI_Barrier(comm); /* until the new world works, as by the first broadcast of the other */
    took.communicator += MPI_Wtime() - first;
    took.total = MPI_Wtime() - begin - took.data;
    report("adapt", before, iterate(took.total, false));
    return true;
}

/* By MPI alone, which grows, and does not shrink. */
static void spawn(char **argv)
{
    char *arguments[] = {argv[1], argv[2], argv[3], argv[4], NULL};
    MPI_Comm between, all;
    for (int round = 0; round < state.changes / 2; round++) {
        double begin = MPI_Wtime();
        MPI_Comm_spawn(argv[0], arguments, state.delta, MPI_INFO_NULL, 0, comm, &between, MPI_ERRCODES_IGNORE);
        MPI_Intercomm_merge(between, 0, &all);
        MPI_Barrier(all);
        took.total = MPI_Wtime() - begin;
        int before = size;
        MPI_Comm_size(all, &size);
        report("spawn", before, 0);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        MPI_Comm_free(&all);
        MPI_Comm_disconnect(&between);
    }
}

static int spawned(MPI_Comm parent)
{
    MPI_Comm all;
    MPI_Intercomm_merge(parent, 1, &all);
    MPI_Barrier(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&parent);
    return MPI_Finalize();
}

static int run_spawn(int argc, char **argv)
{
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        return spawned(parent);
    use(MPI_COMM_WORLD);
    spawn(argv);
    return MPI_Finalize();
}

static void stay(const char *interface)
{
    double best = 1e9;
    for (int i = 0; i < 200; i++) {
        double step = work();
        best = step < best ? step : best;
    }
    took.total = 0;
    report(interface, size, best);
}

static void read_arguments(int argc, char **argv)
{
    water = !strcmp(argv[2], "water");
    state.changes = 2 * atoi(argv[3]);
    state.delta = atoi(argv[4]);
    state.size = argc > 5 ? atol(argv[5]) : water ? 256 : 1000000;
    patience = argc > 6 ? argv[6] : patience;
    state.limit = argc > 8 ? atoi(argv[7]) : 0;
    state.every = argc > 8 ? atoi(argv[8]) : 1;
}

/* An iteration, before which there may be a change. False: this process is taken out. */
static bool go_on(bool sessions)
{
    if (!is_due()) {
        iterate(0, false);
        return true;
    }
    bool goes_on = sessions ? change_psets() : change_adapt();
    state.change++;
    return goes_on;
}

int main(int argc, char **argv)
{
    bool sessions, goes_on = true, still;
    int status = MPI_ADAPT_STATUS_NEW;
    if (argc < 5)
        return 2;
    began_at = wall();
    still = !strncmp(argv[1], "still", 5);
    sessions = !strncmp(argv[1], "psets", 5) || !strcmp(argv[1], "still");
    read_arguments(argc, argv);
    if (!strcmp(argv[1], "spawn"))
        return run_spawn(argc, argv);
    if (!strcmp(argv[1], "still-plain")) {
        MPI_Init(&argc, &argv);
        use(MPI_COMM_WORLD);
    } else if (sessions) {
        join_psets();
    } else {
        MPI_Init_adapt(&argc, &argv, &status);
        if (status == MPI_ADAPT_STATUS_JOINING)
            adapt(status);
        else
            use(MPI_COMM_WORLD);
    }
    if (!state.start) {
        state.start = size;
        if (water)
            fill();
    }
    if (still)
        stay(argv[1]);
    while (!still && goes_on && !is_over())
        goes_on = go_on(sessions);
    if (!goes_on && strstr(argv[1], "-late"))
        usleep(LATE_US);
    free(state.water);
    if (sessions && goes_on)
        MPI_Comm_disconnect(&comm);
    return sessions ? MPI_Session_finalize(&session) : MPI_Finalize();
}
