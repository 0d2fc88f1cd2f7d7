/* The table that the walk through a program runs on (struct elastic), in a job of MPI ranks. */
#include "runtime/job/walk.h"

#include <stdlib.h>

#include "runtime/ahead/ahead.h"
#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/json.h"
#include "runtime/base/say.h"
#include "runtime/describe/program.h"
#include "runtime/hydra/keeper.h"
#include "runtime/job/checkpoints.h"
#include "runtime/job/elastic.h"
#include "runtime/job/signals.h"
#include "runtime/job/state.h"
#include "runtime/member/asks.h"
#include "runtime/redist/traffic.h"
#include "runtime/wire/messages.h"
#include "runtime/world/world.h"

/* How connecting went, once per window: the first word counts. */
static void report_connected(const char *failure)
{
    if (world.backend->connects != CONNECTS_ALWAYS && !job.connected)
        member_connected(&job.member, job.member.plan->adaptation, failure);
    job.connected = true;
}

void job_connected(void)
{
    keeper_expendable(false);
    report_connected(NULL);
}

/* In a window a joining process goes by the rank that it will have: its own world says nothing to anybody. */
static void elastic_world(void *context, int *rank, int *size)
{
    (void)context;
    bool joining = world.state != WINDOW_NONE && world.window.status == EPOP_JOINING;
    *rank = joining ? world.window.new_rank : world.rank;
    *size = joining ? world.window.new_size : world.size;
}

static void elastic_begun(void *context, const epop_program_t *program, void *data, bool joining)
{
    (void)context;
    describe_program_begin(program, data, joining);
    ahead_look(-1);
}

static const char *elastic_look(void *context, int pc)
{
    static struct error fault;
    struct error hint = {.code = ERROR_NONE};
    (void)context;
    bool moved = pc > 0 && describe_program.program->elements[pc].phase_adapt == epop_adapt_described;
    bool restarts = checkpoints_restarting(); /* it is filled in, and looked at then */
    if (!restarts &&
        (pc > 0 ? describe_program_look_at_data(moved, &fault, &hint) : describe_program_look_at_form(&fault)))
        return fault.text;
    if (hint.code != ERROR_NONE && world.rank == 0 && !job.options.quiet)
        say_line("note: %s", hint.text);
    if (world.rank == 0)
        member_describes(&job.member, describe_program_tell(moved));
    return NULL;
}

static const char *elastic_inspect(void *context)
{
    static struct error fault;
    struct error hint = {.code = ERROR_NONE};
    (void)context;
    if (describe_program_inspect(&fault, &hint))
        return fault.text;
    if (hint.code != ERROR_NONE && world.rank == 0)
        say_line("note: %s", hint.text);
    return NULL;
}

/* Has a joining process the data that rank 0 has? What has to be asked may be much, so that the order to join has it
 * not. */
static int compare_data(struct error *error)
{
    if (!describe_program.describe || describe_program.pack)
        return 0;
    cJSON *question = json_message(REPORT(ask));
    cJSON_AddStringToObject(question, "about", "data");
    cJSON *told = member_ask(&job.member, question, NULL);
    int result = describe_program_compare(told, error);
    cJSON_Delete(told);
    return result;
}

static void elastic_release(void *context)
{
    (void)context;
    describe_program_release();
}

static void elastic_entered(void *context, int pc)
{
    (void)context;
    ahead_look(pc);
}

static void elastic_left(void *context)
{
    (void)context;
    ahead_withdraw();
}

static enum action elastic_hold(void *context, const struct position *at, int needs)
{
    (void)context;
    return member_hold(&job.member, at, needs);
}

static double (*mpi_time)(void);

void epop__job_mpi_time(double (*seconds)(void))
{
    mpi_time = seconds;
}

static void elastic_progress(void *context, const epop_progress_t *progress)
{
    (void)context;
    member_report_progress(&job.member, progress, mpi_time ? mpi_time() : -1);
}

static void elastic_checkpoint(void *context, const struct position *at)
{
    (void)context;
    checkpoints_make(at);
}

static bool elastic_restart(void *context, struct position *at)
{
    (void)context;
    if (!checkpoints_restarting())
        return false;
    checkpoints_load();
    *at = *checkpoints_position();
    return true;
}

static const struct position *elastic_restarts(void *context)
{
    (void)context;
    return checkpoints_restarting() ? checkpoints_position() : NULL;
}

static bool elastic_join(void *context, const char *failure, struct position *at)
{
    static struct error differs;
    (void)context;
    if (job.joining.failure.code)
        failure = job.joining.failure.text;
    if (!failure && compare_data(&differs)) {
        failure = differs.text;
        if (world.rank == 0)
            say_line("the resize is called off: %s", failure);
    }
    char *port = world.rank == 0 && !failure ? world.backend->port() : NULL;
    member_ready(&job.member, ((const struct order_wake *)job.member.wake.is)->adaptation, failure, port);
    world.failure = failure;
    bool joins = member_await_window(&job.member);
    if (!joins)
        ahead_end();
    if (!joins && port)
        MPI_Close_port(port); /* a parked process may open many */
    free(port);
    if (!joins)
        return false;
    *at = job.member.plan->at;
    return true;
}

static int64_t decided; /* when the present window's plan was there, ns */

static int elastic_open(void *context, struct error *error)
{
    (void)context;
    job.connected = job.member.plan->connected;
    decided = monotonic_ns();
    ahead_window(job.member.plan);
    int failed = world_offer_window(job.member.plan, job.member.process, error);
    report_connected(failed ? error->text : NULL);
    if (failed)
        ahead_end();
    if (!failed && job.joins)
        signals_install(NULL);
    /* A connect that failed leaves something behind, which MPI_Finalize would wait for. */
    job.adapted |= !failed || world.backend->connects == CONNECTS_IN_TIME;
    if (!failed)
        keeper_expendable(false);
    if (!failed)
        redist_traffic_begin(plan_total(job.member.plan));
    job.entangled = failed != 0;
    return failed;
}

static enum window_result elastic_close(void *context, struct error *error)
{
    (void)context;
    const struct plan *plan = job.member.plan;
    if (world_close_window(error))
        return WINDOW_BROKEN;
    ahead_over();
    if (world.status == EPOP_LEAVING)
        return WINDOW_LEAVE;
    double stall = world.status == EPOP_STAYING ? monotonic_seconds() - job.member.held : 0;
    describe_program.whole = true; /* by whatever the block did */
    member_committed(&job.member, plan->adaptation, stall, redist_traffic_all_received());
    return WINDOW_STAY;
}

void epop__job_stretch(const struct stretch_log *log, int from)
{
    member_stretch(&job.member, log, from);
}

int epop__job_settled(void)
{
    return atomic_load_explicit(&job.member.settled, memory_order_relaxed);
}

static const epop_adapted_t *elastic_adapted(void *context)
{
    static epop_adapted_t adapted;
    (void)context;
    const epop_window_t *window = &world.window;
    const struct plan *plan = job.member.plan;
    free((epop_traffic_t *)adapted.traffic);
    adapted = (epop_adapted_t){.adaptation = plan->adaptation,
                               .process = job.member.process,
                               .old_rank = window->old_rank,
                               .old_size = window->old_size,
                               .new_rank = window->new_rank,
                               .new_size = window->new_size,
                               .least = redist_traffic.least,
                               .decided = decided,
                               .move_begin = redist_traffic.begin,
                               .move_end = redist_traffic.end,
                               .commit_begin = world.commit_begin,
                               .commit_end = world.commit_end,
                               .arrays = redist_traffic.arrays,
                               .array_count = redist_traffic.array_count};
    adapted.traffic = redist_traffic_list(plan->processes, &adapted.traffic_count);
    return &adapted;
}

const struct elastic *epop__job_elastic(void)
{
    static struct elastic elastic = {
        .world = elastic_world,
        .begun = elastic_begun,
        .look = elastic_look,
        .inspect = elastic_inspect,
        .release = elastic_release,
        .entered = elastic_entered,
        .left = elastic_left,
        .hold = elastic_hold,
        .report_progress = elastic_progress,
        .checkpoint = elastic_checkpoint,
        .restart = elastic_restart,
        .restarts = elastic_restarts,
        .join = elastic_join,
        .window_open = elastic_open,
        .window_close = elastic_close,
        .adapted = elastic_adapted,
    };
    elastic.ceiling = &job.member.ceiling;
    elastic.live = &job.member.live;
    elastic.meter = &job.meter;
    return &elastic;
}
