/* A job in virtual time: how far it is, what it asks for, what is measured of it, its resizes, its start and its end.
 */
#include "scheduler/simulated/play.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/hash.h"
#include "scheduler/simulated/schedule.h"

/* ---- How far a job is --------------------------------------------------------------------------- */

/*
 * Iterations of its present phase, at the pace of its present size. After those that the phase says it moves bytes, on
 * the network first, and goes on computing then. It stands still in a resize.
 */

static const struct phase *phase_of(const struct play *play)
{
    return &play->work->phases[play->phase];
}

static bool stands_still(const struct play *play)
{
    return play->resize.stage >= RESIZE_STANDS;
}

static bool moves_on(const struct run *run, const struct phase *phase, int on)
{
    return phase->moves[on].bytes > 0 && rate_takes_time(&run->rates[on]);
}

bool play_moves(const struct run *run, const struct phase *phase)
{
    return moves_on(run, phase, SHARED_NETWORK) || moves_on(run, phase, SHARED_FILE_SYSTEM);
}

/* Iterations at which it stops next, to move bytes, or at the phase's end. */
static double next_stop(const struct run *run, const struct play *play)
{
    const struct phase *phase = phase_of(play);
    double stop = phase->iterations;
    for (int i = 0; i < SHARED; i++)
        if (moves_on(run, phase, i))
            stop = fmin(stop, play->moved_to[i] + phase->moves[i].every);
    return stop;
}

/* Who moves bytes there has changed. */
static int expect_moved(struct run *run, enum shared on, struct error *error)
{
    struct event event = {.kind = EVENT_MOVED, .index = on, .stamp = ++run->rate_stamps[on]};
    if (!rate_next(&run->rates[on], &event.time))
        return 0;
    return run_add_event(run, &event) ? error_memory(error) : 0;
}

static int begin_transfer(struct run *run, const struct play *play, enum shared on, double bytes, int nodes,
                          struct error *error)
{
    if (rate_begin(&run->rates[on], run->now, (size_t)(play - run->plays), bytes, nodes))
        return error_memory(error);
    return expect_moved(run, on, error);
}

/* It begins, or what is left of it. */
static int resume_transfer(struct run *run, struct play *play, struct error *error)
{
    play->since = run->now;
    return begin_transfer(run, play, play->on, play->bytes, phase_nodes(phase_of(play), play->nodes), error);
}

/* Up to now it moved bytes. */
static void count_moving(const struct run *run, struct play *play)
{
    play->moving_seconds[play->on] += run->now - play->since;
    play->since = run->now;
}

/* It goes on later, with what is left, or never. */
static int pause_transfer(struct run *run, struct play *play, struct error *error)
{
    if (!play->moving || stands_still(play))
        return 0;
    count_moving(run, play);
    play->bytes = rate_leave(&run->rates[play->on], run->now, (size_t)(play - run->plays));
    return expect_moved(run, play->on, error);
}

/* It goes on now, at its present size. */
static int resume_iterations(struct run *run, struct play *play, struct error *error)
{
    play->pace = phase_iteration(phase_of(play), play->nodes) / play->speed *
                 (1 + run->simulation->spread_cost * (play->leaves - play->least));
    if (play->moving)
        return resume_transfer(run, play, error);
    play->since = run->now;
    play->until = next_stop(run, play);
    return run_expect(run, play, EVENT_PHASE, run->now + (play->until - play->done) * play->pace, error);
}

/* What weak scaling adds at this size: before the size changes, and at the phase's end. */
static void count_work(struct play *play)
{
    const struct phase *phase = phase_of(play);
    play->record->more += (play->done - play->counted) * (phase_work(phase, play->nodes) - 1) * phase->seconds;
    play->counted = play->done;
}

/* The first iteration of this phase begins now. */
static int begin_iterations(struct run *run, struct play *play, int phase, struct error *error)
{
    play->phase = phase;
    play->done = play->counted = 0;
    for (int i = 0; i < SHARED; i++)
        play->moved_to[i] = 0;
    return resume_iterations(run, play, error);
}

/* Brings `done` up to now. */
static void update_done(const struct run *run, struct play *play)
{
    if (play->moving)
        return;
    if (!stands_still(play))
        play->done += (run->now - play->since) / play->pace;
    if (play->done > play->until)
        play->done = play->until;
    play->since = run->now;
}

/* From now on it stands still. */
static int pause_iterations(struct run *run, struct play *play, struct error *error)
{
    update_done(run, play);
    run_forget(play, EVENT_PHASE);
    return pause_transfer(run, play, error);
}

/* What is due after these iterations, there; 0: nothing. */
static double bytes_due(const struct run *run, const struct play *play, int on)
{
    const struct phase *phase = phase_of(play);
    double iterations = play->done - play->moved_to[on], every = phase->moves[on].every;
    if (!moves_on(run, phase, on) || (iterations < every && play->done < phase->iterations))
        return 0;
    return phase->moves[on].bytes * iterations / every;
}

/* False: nothing is due. */
static bool begin_due_transfer(const struct run *run, struct play *play)
{
    for (int i = 0; i < SHARED && !play->moving; i++) {
        double bytes = bytes_due(run, play, i);
        if (bytes <= 0)
            continue;
        play->moving = true;
        play->on = (enum shared)i;
        play->bytes = bytes;
        play->moved_to[i] = play->done;
    }
    return play->moving;
}

/* Seconds from now to the begin of each phase, from the present one on: as real programs do, it knows of the next one
 * alone. */
static void list_begins(const struct play *play, double left, double *begins)
{
    for (int i = play->phase; i < play->work->phase_count; i++)
        begins[i - play->phase] = i == play->phase ? 0 : i == play->phase + 1 ? left : -1;
}

/* ---- Its time limit ----------------------------------------------------------------------------- */

/* Times are sums of iterations, and not exact: who ends at the limit by this is done. */
static const double tolerance = 1e-9;

/* Of its limit, so much is used up in a second: less on fewer nodes than its user wanted. */
static double limit_rate(const struct play *play, int nodes)
{
    return fmin(1, (double)nodes / play->work->wanted);
}

/* It has its size from now on. */
static int expect_limit(struct run *run, struct play *play, double left, struct error *error)
{
    play->limit_left = left;
    play->limit_since = run->now;
    if (!run->simulation->kill_at_limit)
        return 0;
    double seconds = left / limit_rate(play, play->nodes);
    return run_expect(run, play, EVENT_LIMIT, run->now + seconds + tolerance * (run->now + seconds), error);
}

/* Of its limit, before its size changes from this one. */
static double limit_left(const struct run *run, const struct play *play, int nodes)
{
    return play->limit_left - (run->now - play->limit_since) * limit_rate(play, nodes);
}

/* ---- What an evolving job asks for -------------------------------------------------------------- */

/*
 * In a phase that does not accept as many nodes as it has, it asks for the most of them that the phase accepts; if it
 * accepts no such few, for the fewest that it does. Meanwhile the job computes on what it has.
 */

/* Which size this phase needs, where it does not accept the present one; 0: none. */
static int size_needed(const struct play *play)
{
    const struct phase *phase = phase_of(play);
    int fits = phase_nodes(phase, play->nodes);
    if (phase_accepts(phase, play->nodes))
        return 0;
    return fits != play->nodes ? fits : phase->range.count ? phase->range.sizes[0] : phase->range.min;
}

static int tell_asked(struct run *run, struct play *play, struct error *error)
{
    int asked = play->work->kind == EPOP_EVOLVING ? size_needed(play) : 0;
    if (asked == play->asked || (asked && !epop_policy_accepts(&play->work->range, asked)))
        return 0;
    play->asked = asked;
    run->news = true;
    return core_asked(run->core, play->work->id, asked, error);
}

/* ---- What is measured --------------------------------------------------------------------------- */

/*
 * What is measured of a job that reports its progress is told to the core: after five iterations at a size, after
 * ten, twenty, and so on, and at the end of the phase. Values have a seeded noise.
 */

static const double first_sample = 5; /* iterations */

static int expect_sample(struct run *run, struct play *play, struct error *error)
{
    play->sample_at = play->measured_from + ldexp(first_sample, play->samples);
    if (play->sample_at >= play->until || play->moving)
        return run_forget(play, EVENT_MEASURE), 0; /* its end comes before, or it is taken where it stops */
    return run_expect(run, play, EVENT_MEASURE, run->now + (play->sample_at - play->done) * play->pace, error);
}

/* A sample is of what comes from now on. */
static void begin_sample(const struct run *run, struct play *play)
{
    play->sampled = play->done;
    play->sampled_at = run->now;
    for (int i = 0; i < SHARED; i++)
        play->moving_seconds[i] = 0;
}

/* A phase, or a size, begins. */
static int begin_measuring(struct run *run, struct play *play, struct error *error)
{
    begin_sample(run, play);
    play->measured_from = play->done;
    play->samples = 0;
    return play->work->progress ? expect_sample(run, play, error) : 0;
}

/* It does not compute for now. */
static void stop_measuring(struct play *play)
{
    run_forget(play, EVENT_MEASURE);
}

/* Bits that depend on the seed, on what is measured and on nothing else: not on what other jobs do. */
static uint64_t noise_bits(const struct run *run, const struct play *play, int which)
{
    int64_t key[] = {(int64_t)run->simulation->seed, play->work->id, play->phase, play->nodes, play->samples, which};
    uint64_t hash = hash_bytes(HASH_BEGIN, key, sizeof key);
    hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
    return hash ^ hash >> 31;
}

static double uniform(uint64_t value)
{
    return ((double)(value >> 11) + 0.5) / 9007199254740992.0; /* 2^53 */
}

/* A factor around 1, normally distributed; not so far off that a time would be negative. */
static double noisy_factor(const struct run *run, const struct play *play, int which)
{
    if (run->simulation->noise <= 0)
        return 1;
    double radius = sqrt(-2 * log(uniform(noise_bits(run, play, which)))),
           turn = uniform(noise_bits(run, play, which + 1));
    double factor = 1 + run->simulation->noise * radius * cos(8 * atan(1) * turn);
    return factor < 0.01 ? 0.01 : factor;
}

/* Of an iteration since the last sample. */
static double measured_seconds(const struct run *run, const struct play *play)
{
    double iterations = play->done - play->sampled;
    bool moved = play_moves(run, phase_of(play)) && iterations > 0;
    return moved ? (run->now - play->sampled_at) / iterations : play->pace;
}

/* Moving bytes on the network is time in MPI, in the file system it is not. */
static double measured_mtct(const struct play *play)
{
    const struct phase *phase = phase_of(play);
    double mtct = speedup_mtct(&phase->speedup, phase_nodes(phase, play->nodes));
    double network = play->moving_seconds[SHARED_NETWORK], files = play->moving_seconds[SHARED_FILE_SYSTEM];
    double computed = (play->done - play->sampled) * play->pace / (1 + mtct);
    return network + files > 0 ? (mtct * computed + network) / (computed + files) : mtct;
}

static epop_policy_sample_t take_sample(const struct run *run, const struct play *play, double factor)
{
    double mtct = measured_mtct(play), spread = run->simulation->noise * mtct;
    epop_policy_sample_t sample = {.phase = play->phase, .nodes = play->nodes};
    double work = phase_work(phase_of(play), play->nodes);
    sample.iterations = (play->done - play->sampled) * work;
    sample.seconds = measured_seconds(run, play) * factor / work;
    sample.mtct = mtct * noisy_factor(run, play, 2);
    sample.trend = mtct * noisy_factor(run, play, 4);
    sample.variance = spread * spread;
    sample.lo = fmax(0, fmin(sample.mtct, mtct - 2 * spread));
    sample.hi = fmax(sample.mtct, mtct + 2 * spread);
    return sample;
}

/* When each phase begins, at this size. */
static int tell_phases(struct run *run, const struct play *play, double left, struct error *error)
{
    int ahead = play->work->phase_count - play->phase;
    double *begins = malloc((size_t)ahead * sizeof *begins);
    if (!begins)
        return error_memory(error);
    list_begins(play, left, begins);
    int failed = core_phase(run->core, run->now, play->work->id, play->phase, begins, error);
    free(begins);
    return failed;
}

static int tell_sample(struct run *run, struct play *play, struct error *error)
{
    double factor = noisy_factor(run, play, 0), change;
    double left = (phase_of(play)->iterations - play->done) * measured_seconds(run, play) * factor;
    epop_policy_sample_t sample = take_sample(run, play, factor);
    begin_sample(run, play);
    if (core_measured(run->core, play->work->id, &sample, &change, error) ||
        core_told(run->core, run->now, play->work->id, left, error))
        return -1;
    return play->work->phase_count > 1 ? tell_phases(run, play, left, error) : 0;
}

static int measure_now(struct run *run, struct play *play, struct error *error)
{
    if (tell_sample(run, play, error))
        return -1;
    run->news |= !play->samples && play->work->kind >= EPOP_MALLEABLE;
    play->samples++;
    return expect_sample(run, play, error);
}

int play_measure(struct run *run, struct play *play, struct error *error)
{
    update_done(run, play);
    play->done = play->sample_at;
    return measure_now(run, play, error);
}

/* It has moved bytes, and computes again. */
static int go_on_measuring(struct run *run, struct play *play, struct error *error)
{
    if (!play->work->progress)
        return 0;
    return play->done >= play->sample_at ? measure_now(run, play, error) : expect_sample(run, play, error);
}

/* The phase ends: what it has come to. */
static int end_measuring(struct run *run, struct play *play, struct error *error)
{
    run_forget(play, EVENT_MEASURE);
    return play->work->progress && play->done - play->measured_from >= 1 ? tell_sample(run, play, error) : 0;
}

/* ---- Where it computes -------------------------------------------------------------------------- */

/* Its time below switches so far is counted. */
static void leave_place(const struct run *run, struct play *play)
{
    double seconds = run->now - play->placed;
    play->record->leaf_seconds += play->leaves * seconds;
    play->record->least_seconds += play->least * seconds;
    play->leaves = play->least = 0;
}

static double slowest_of(const struct run *run, const struct stay *held)
{
    const double *speeds = run->simulation->speeds;
    double slowest = speeds ? INFINITY : 1;
    for (int i = 0; speeds && i < held->count; i++)
        slowest = fmin(slowest, speeds[held->nodes[i]]);
    return slowest;
}

/* It computes on what it holds from now on. */
static void take_place(const struct run *run, struct play *play)
{
    const struct topology *topology = run->simulation->topology;
    const struct stay *held = record_held(play->record);
    leave_place(run, play);
    play->placed = run->now;
    play->speed = slowest_of(run, held);
    if (!topology)
        return;
    play->leaves = topology_leaves(topology, held->nodes, held->count);
    play->least = topology_least(topology, held->count);
}

/* ---- Resizes ------------------------------------------------------------------------------------ */

/*
 * As the real thing does it: processes are started while the job computes on; then, in an elastic phase that accepts
 * the size, it stands still; then it has the new size. A request that is ready in a rigid phase waits for the next
 * elastic one. In a phase that does not accept the size it is refused. Where there is a network, the job's bytes move
 * on it at last, and share it with others'.
 */

static int check_resize(const struct play *play, const struct decision *decision, struct error *error)
{
    const struct work *work = play->work;
    int difference = decision->to - decision->from;
    if (work->kind < EPOP_MALLEABLE || !epop_policy_accepts(&work->range, decision->to))
        return error_set(error, ERROR_FAILED, "job %" PRId64 " is resized to %d nodes, which it does not accept",
                         work->id, decision->to);
    if (play->resize.stage != RESIZE_NONE || decision->from != play->nodes || abs(difference) != decision->count)
        return error_set(error, ERROR_FAILED, "job %" PRId64 " is resized from %d nodes to %d by %d while it has %d%s",
                         work->id, decision->from, decision->to, decision->count, play->nodes,
                         play->resize.stage == RESIZE_NONE ? "" : " and is in a resize");
    return 0;
}

/* The nodes that a growth gets are the job's from the decision on. */
static int take_nodes(struct run *run, struct play *play, struct error *error)
{
    const struct play_resize *resize = &play->resize;
    if (resize->to < play->nodes)
        return 0;
    if (ledger_take(&run->ledger, play->work->id, resize->nodes, resize->count, error))
        return -1;
    return record_more(play->record, run->now, resize->nodes, resize->count) ? error_memory(error) : 0;
}

static int give_nodes(struct run *run, struct play *play, struct error *error)
{
    const struct play_resize *resize = &play->resize;
    if (ledger_give(&run->ledger, play->work->id, resize->nodes, resize->count, error))
        return -1;
    return record_fewer(play->record, run->now, resize->nodes, resize->count) ? error_memory(error) : 0;
}

int play_resize(struct run *run, struct play *play, const struct decision *decision, struct error *error)
{
    struct play_resize *resize = &play->resize;
    size_t size = (size_t)decision->count * sizeof *resize->nodes;
    if (check_resize(play, decision, error))
        return -1;
    if (!(resize->nodes = malloc(size)))
        return error_memory(error);
    memcpy(resize->nodes, decision->nodes, size);
    resize->count = decision->count;
    resize->to = decision->to;
    resize->decided = run->now;
    resize->number++;
    resize->stage = RESIZE_PREPARES;
    if (take_nodes(run, play, error))
        return -1;
    return run_expect(run, play, EVENT_RESIZE, run->now + run->simulation->latency, error);
}

bool play_awaits(const struct play *play, int node)
{
    const struct play_resize *resize = &play->resize;
    if ((resize->stage != RESIZE_PREPARES && resize->stage != RESIZE_WAITS) || resize->to < play->nodes)
        return false;
    for (int i = 0; i < resize->count; i++)
        if (resize->nodes[i] == node)
            return true;
    return false;
}

void play_resize_drop(struct play *play)
{
    free(play->resize.nodes);
    play->resize.nodes = NULL;
    play->resize.stage = RESIZE_NONE;
    run_forget(play, EVENT_RESIZE);
}

int play_resize_refuse(struct run *run, struct play *play, const char *why, struct error *error)
{
    int to = play->resize.to;
    if (to > play->nodes && give_nodes(run, play, error))
        return -1;
    play_resize_drop(play);
    run->schedule->metrics.refused++;
    run->news = true;
    if (core_refused(run->core, run->now, play->work->id, error))
        return -1;
    return run_note(run, error, "resize of job %" PRId64 " to %d nodes is refused: %s", play->work->id, to, why);
}

static bool takes_network(const struct run *run)
{
    return rate_takes_time(&run->rates[SHARED_NETWORK]);
}

/* Before its bytes move. */
static double stall_of(const struct run *run, const struct play *play)
{
    const struct core_costs *costs = &run->simulation->costs;
    int from = play->nodes, to = play->resize.to;
    return costs->base + costs->per_node * (from > to ? from : to) +
           (takes_network(run) ? 0 : costs->per_byte * play->work->bytes / (from < to ? from : to));
}

static int stand_still(struct run *run, struct play *play, struct error *error)
{
    double stall = stall_of(run, play);
    if (pause_iterations(run, play, error))
        return -1;
    stop_measuring(play);
    play->resize.stage = RESIZE_STANDS;
    play->resize.stands = run->now;
    return run_expect(run, play, EVENT_RESIZE, run->now + stall, error);
}

static bool is_in_the_script(const struct run *run, const struct play *play)
{
    const struct script *script = run->simulation->script;
    for (size_t i = 0; script && i < script->resize_count; i++)
        if (script->resizes[i].job == play->work->id && script->resizes[i].number == play->resize.number)
            return true;
    return false;
}

/* It is prepared, and an elastic phase can be interrupted between any two iterations. */
static int pass_gate(struct run *run, struct play *play, struct error *error)
{
    const struct phase *phase = phase_of(play);
    char why[200];
    if (is_in_the_script(run, play))
        return play_resize_refuse(run, play, "by the script", error);
    if (!phase->elastic) {
        play->resize.stage = RESIZE_WAITS;
        return 0;
    }
    if (phase_accepts(phase, play->resize.to))
        return stand_still(run, play, error);
    snprintf(why, sizeof why, "its phase %s does not accept them", phase->name ? phase->name : "");
    return play_resize_refuse(run, play, why, error);
}

static int commit_resize(struct run *run, struct play *play, struct error *error)
{
    struct play_resize *resize = &play->resize;
    int from = play->nodes, to = resize->to;
    double stall = run->now - resize->stands, latency = run->now - resize->decided;
    if (!phase_accepts(phase_of(play), to))
        return error_set(error, ERROR_FAILED, "job %" PRId64 " has got %d nodes, which its phase does not accept",
                         play->work->id, to);
    if (to < from && give_nodes(run, play, error))
        return -1;
    play_resize_drop(play);
    count_work(play);
    play->nodes = to;
    take_place(run, play);
    play->record->resizes++;
    play->record->stalled += stall;
    run->schedule->metrics.stalled += stall * (from > to ? from : to);
    *(from < to ? &run->schedule->metrics.grown : &run->schedule->metrics.shrunk) += 1;
    run->news = true;
    if (core_committed(run->core, run->now, play->work->id, latency, stall, error))
        return -1;
    if (expect_limit(run, play, limit_left(run, play, from), error) || resume_iterations(run, play, error) ||
        begin_measuring(run, play, error))
        return -1;
    return tell_asked(run, play, error);
}

/* It has stood still for as long as its size says. */
static int move_data(struct run *run, struct play *play, struct error *error)
{
    struct play_resize *resize = &play->resize;
    int smaller = play->nodes < resize->to ? play->nodes : resize->to;
    if (!takes_network(run) || play->work->bytes <= 0)
        return commit_resize(run, play, error);
    resize->stage = RESIZE_MOVES;
    return begin_transfer(run, play, SHARED_NETWORK, play->work->bytes, smaller, error);
}

/* The job stops meanwhile. */
static int stop_moving_data(struct run *run, struct play *play, struct error *error)
{
    if (play->resize.stage != RESIZE_MOVES)
        return 0;
    rate_leave(&run->rates[SHARED_NETWORK], run->now, (size_t)(play - run->plays));
    return expect_moved(run, SHARED_NETWORK, error);
}

int play_resize_step(struct run *run, struct play *play, struct error *error)
{
    return play->resize.stage == RESIZE_STANDS ? move_data(run, play, error) : pass_gate(run, play, error);
}

/* Another phase has begun. */
static int resume_resize(struct run *run, struct play *play, struct error *error)
{
    return play->resize.stage == RESIZE_WAITS ? pass_gate(run, play, error) : 0;
}

/* ---- From its submission to its end ------------------------------------------------------------- */

/* What a program tells ahead: of one phase only, there is nothing to tell. */
static epop_policy_phase_t *phases_of(const struct work *work)
{
    epop_policy_phase_t *phases = calloc((size_t)work->phase_count, sizeof *phases);
    for (int i = 0; phases && i < work->phase_count; i++) {
        phases[i] = (epop_policy_phase_t){.name = work->phases[i].name, .elastic = work->phases[i].elastic};
        phases[i].range = work->phases[i].range.max ? work->phases[i].range : work->range;
    }
    return phases;
}

static int submit_work(struct run *run, const struct work *work, struct error *error)
{
    struct core_job job = {.id = work->id, .name = work->name, .user = work->user, .kind = work->kind};
    char user[WORK_ACCOUNT_MAX];
    job.priority = work->priority;
    job.account = work_account(work, user);
    job.deadline = work->deadline > 0 ? work->submit + work->deadline : 0;
    epop_policy_phase_t *phases = phases_of(work);
    if (!phases)
        return error_memory(error);
    job.wanted = work->wanted;
    job.range = work->range;
    job.limit = work->limit;
    job.bytes = work->bytes;
    job.phases = phases;
    job.phase_count = work->phase_count;
    int failed = core_submit(run->core, run->now, &job, error);
    free(phases);
    return failed;
}

/* The time at which it has to have started, and then that of its end; sums of times are rounded. */
static int expect_deadline(struct run *run, struct play *play, struct error *error)
{
    double at = play->work->submit + play->work->deadline;
    double start = at - core_fastest(core_job(run->core, play->work->id));
    return run_expect(run, play, EVENT_DEADLINE, (start + tolerance * at > run->now ? start : at) + tolerance * at,
                      error);
}

int play_submit(struct run *run, struct play *play, struct error *error)
{
    struct error refused = {0};
    run->news = true;
    if (!submit_work(run, play->work, &refused)) {
        play->state = PLAY_WAITS;
        run->waiting++;
        return play->work->drop_late && play->work->deadline > 0 ? expect_deadline(run, play, error) : 0;
    }
    if (refused.code == ERROR_MEMORY)
        return error_memory(error);
    play->state = PLAY_OVER;
    run->over++;
    return run_note(run, error, "%s; it is never started", refused.text);
}

static int check_start(const struct play *play, const struct decision *decision, struct error *error)
{
    const struct work *work = play->work;
    if (play->state != PLAY_WAITS)
        return error_set(error, ERROR_FAILED, "job %" PRId64 " is started, and does not wait", work->id);
    if (decision->to != decision->count || !epop_policy_accepts(&work->range, decision->to))
        return error_set(error, ERROR_FAILED,
                         "job %" PRId64 " is started at %d nodes (%d given), which it does not accept", work->id,
                         decision->to, decision->count);
    return 0;
}

static int begin_phase(struct run *run, struct play *play, int phase, struct error *error)
{
    if (core_weak(run->core, play->work->id, play->work->phases[phase].weak, error) ||
        begin_iterations(run, play, phase, error) || begin_measuring(run, play, error))
        return -1;
    return tell_asked(run, play, error);
}

int play_start(struct run *run, struct play *play, const struct decision *decision, struct error *error)
{
    if (check_start(play, decision, error) ||
        ledger_take(&run->ledger, play->work->id, decision->nodes, decision->count, error))
        return -1;
    if (record_more(play->record, run->now, decision->nodes, decision->count))
        return error_memory(error);
    play->state = PLAY_RUNS;
    play->nodes = decision->to;
    take_place(run, play);
    play->record->start = run->now;
    run->waiting--;
    run->running++;
    return expect_limit(run, play, play->work->limit, error) ? -1 : begin_phase(run, play, 0, error);
}

/* It holds nothing any more. */
static int stop_job(struct run *run, struct play *play, struct error *error)
{
    const struct stay *held = record_held(play->record);
    if (pause_transfer(run, play, error) || stop_moving_data(run, play, error))
        return -1;
    play->moving = false;
    play_resize_drop(play);
    run_forget(play, EVENT_PHASE);
    run_forget(play, EVENT_LIMIT);
    run_forget(play, EVENT_MEASURE);
    if (ledger_give(&run->ledger, play->work->id, held->nodes, held->count, error))
        return -1;
    record_none(play->record, run->now);
    leave_place(run, play);
    play->nodes = play->asked = 0;
    run->news = true;
    run->running--;
    return 0;
}

static int end_job(struct run *run, struct play *play, enum outcome outcome, struct error *error)
{
    if (stop_job(run, play, error))
        return -1;
    play->state = PLAY_OVER;
    play->record->end = run->now;
    play->record->outcome = outcome;
    run->over++;
    return core_ended(run->core, run->now, play->work->id, error);
}

int play_limit_reached(struct run *run, struct play *play, struct error *error)
{
    if (end_job(run, play, OUTCOME_FAILED, error))
        return -1;
    return run_note(run, error, "job %" PRId64 " is ended: its limit is used up", play->work->id);
}

/* It has not started. */
static int give_up(struct run *run, struct play *play, struct error *error)
{
    play->state = PLAY_OVER;
    run->waiting--;
    run->over++;
    run->news = true;
    if (core_ended(run->core, run->now, play->work->id, error))
        return -1;
    return run_note(run, error, "job %" PRId64 " is given up: it cannot end before its deadline", play->work->id);
}

int play_deadline(struct run *run, struct play *play, struct error *error)
{
    if (play->state == PLAY_OVER)
        return 0;
    if (play->state == PLAY_WAITS)
        return give_up(run, play, error);
    if (run->now < play->work->submit + play->work->deadline)
        return expect_deadline(run, play, error);
    if (end_job(run, play, OUTCOME_FAILED, error))
        return -1;
    return run_note(run, error, "job %" PRId64 " is ended: its deadline is over", play->work->id);
}

/* How long it takes is known when it is measured. */
static int enter_phase(struct run *run, struct play *play, int phase, struct error *error)
{
    if (core_phase(run->core, run->now, play->work->id, phase, NULL, error) ||
        (play->work->progress && core_told(run->core, run->now, play->work->id, -1, error)))
        return -1;
    return begin_phase(run, play, phase, error);
}

/* The next one begins, or the job ends. */
static int end_phase(struct run *run, struct play *play, struct error *error)
{
    int next = play->phase + 1;
    count_work(play);
    if (end_measuring(run, play, error))
        return -1;
    if (next == play->work->phase_count)
        return end_job(run, play, OUTCOME_DONE, error);
    run->news |= play->work->kind >= EPOP_MALLEABLE;
    if (enter_phase(run, play, next, error))
        return -1;
    return resume_resize(run, play, error);
}

/* It has stopped computing: what is due is moved first. */
static int go_on(struct run *run, struct play *play, struct error *error)
{
    if (begin_due_transfer(run, play)) {
        stop_measuring(play);
        return resume_transfer(run, play, error);
    }
    if (play->done >= phase_of(play)->iterations)
        return end_phase(run, play, error);
    return resume_iterations(run, play, error) ? -1 : go_on_measuring(run, play, error);
}

int play_computed(struct run *run, struct play *play, struct error *error)
{
    play->done = play->until;
    play->since = run->now;
    return go_on(run, play, error);
}

int play_moved(struct run *run, enum shared on, struct error *error)
{
    struct play *play = &run->plays[rate_finish(&run->rates[on], run->now)];
    if (expect_moved(run, on, error))
        return -1;
    if (play->resize.stage == RESIZE_MOVES)
        return commit_resize(run, play, error);
    count_moving(run, play);
    play->moving = false;
    return go_on(run, play, error);
}

int play_requeue(struct run *run, struct play *play, struct error *error)
{
    if (stop_job(run, play, error))
        return -1;
    play->state = PLAY_WAITS;
    play->record->start = -1;
    play->record->more = 0;
    play->record->requeues++;
    run->schedule->metrics.requeues++;
    run->waiting++;
    if (core_requeued(run->core, run->now, play->work->id, error))
        return -1;
    return run_note(run, error, "job %" PRId64 " begins anew", play->work->id);
}
