/* See move.h. */
#include "runtime/redist/move.h"

#include <stdlib.h>

#include "runtime/redist/audit.h"
#include "runtime/redist/check.h"
#include "runtime/redist/settle.h"
#include "runtime/redist/traffic.h"

/* Of all ranks together. What waits has its new blocks besides the old ones of all others, and an agreement is nothing
 * beside the time that so many bytes take. */
enum { TOGETHER_BYTES = 16 << 20 };

struct move {
    redist_plan plan;
    redist_exchange exchange;
    redist_terms terms;
    void **local;
    const char *subject;
    redist_fault fault;
};

static struct {
    bool open;
    const char *function; /* for messages */
    struct move *moves;
    int count, room;
    double bytes;
    redist_fault fault; /* one could not be noted */
} together;

static void prepare(struct move *m, MPI_Datatype type)
{
    redist_exchange *exchange = &m->exchange;
    exchange->plan = &m->plan;
    if (redist_element_of(type, &exchange->element) != 0)
        m->fault = REDIST_BAD_TYPE;
    if (m->fault == REDIST_FINE)
        m->fault = redist_check_plan(&m->plan);
    if (m->fault == REDIST_FINE && (!m->local || (!*m->local && redist_plan_local(&m->plan, REDIST_BEFORE) > 0)))
        m->fault = REDIST_NO_BLOCK;
    redist_terms_of_element(&m->terms, &exchange->element);
    redist_audit_called(&m->terms);
    if (m->fault != REDIST_FINE)
        return;
    exchange->before = *m->local;
    m->fault = redist_settle_prepare(exchange);
}

/* The ranks have agreed. */
static int carry(struct move *m, char *staging)
{
    redist_exchange *exchange = &m->exchange;
    const char *function = m->terms.function;
    redist_totals before = {0, 0};
    exchange->plan = &m->plan; /* it may have been noted elsewhere since */
    exchange->staging = staging;
    redist_settle_begin(exchange, function);
    int result = redist_agree_on_end(m->plan.window, &m->terms, redist_audit_exchange(exchange, function, &before));
    if (result != EPOP_OK)
        return result;
    redist_settle_end(exchange);
    redist_audit_arrived(exchange, function, before);
    return EPOP_OK;
}

static void finish(struct move *m, int result)
{
    m->exchange.plan = &m->plan;
    if (result == EPOP_OK)
        *m->local = m->exchange.after;
    else if (redist_settle_undo(&m->exchange))
        *m->local = (void *)m->exchange.before;
}

/* False: there is no memory to note it. */
static bool note(const struct move *m)
{
    if (together.count == together.room) {
        int room = 2 * together.room + 8;
        struct move *more = realloc(together.moves, (size_t)room * sizeof *more);
        if (!more)
            return false;
        together.moves = more;
        together.room = room;
    }
    together.moves[together.count++] = *m;
    return true;
}

static int alone(struct move *m)
{
    char *staging = NULL;
    if (m->fault == REDIST_FINE && !(staging = malloc((size_t)redist_staging_bytes(&m->exchange.element))))
        m->fault = REDIST_NO_MEMORY;
    int result = redist_agree(m->plan.window, &m->terms, m->fault);
    if (result == EPOP_OK)
        result = carry(m, staging);
    free(staging);
    finish(m, result);
    return result;
}

/* ---- Several ---------------------------------------------------------------------------- */

/* For the largest of all exchanges. */
static char *allocate_staging(void)
{
    int64_t most = 1;
    for (int i = 0; i < together.count; i++) {
        int64_t bytes = redist_staging_bytes(&together.moves[i].exchange.element);
        most = bytes > most ? bytes : most;
    }
    return malloc((size_t)most);
}

static const char *subject_of(int number)
{
    return number < together.count ? together.moves[number].subject : NULL;
}

/* The gravest fault, of the first array that has it. */
static redist_fault gravest(bool staged, int *number)
{
    redist_fault fault = staged ? together.fault : REDIST_NO_MEMORY;
    *number = 0;
    for (int i = 0; i < together.count; i++) {
        if (together.moves[i].fault <= fault)
            continue;
        fault = together.moves[i].fault;
        *number = i;
    }
    return fault;
}

static int carry_all(int may_fail, char *staging)
{
    int result = EPOP_OK;
    for (int i = 0; i < together.count; i++) {
        struct move *m = &together.moves[i];
        m->terms.may_fail = may_fail;
        redist_subject = m->subject;
        redist_traffic_array(m->subject);
        if (result == EPOP_OK)
            result = carry(m, staging);
        finish(m, result);
    }
    redist_subject = NULL;
    redist_traffic_array(NULL);
    return result;
}

/* Those that wait, if there are any. */
static int run_together(const epop_window_t *window)
{
    redist_terms terms = {.function = together.function, .subject_of = subject_of};
    int result = EPOP_OK;
    if (together.count > 0 || together.fault != REDIST_FINE) {
        char *staging = allocate_staging();
        redist_fault fault = gravest(staging, &terms.number);
        result = redist_agree(window, &terms, fault);
        for (int i = 0; i < together.count && result != EPOP_OK; i++)
            finish(&together.moves[i], result);
        if (result == EPOP_OK)
            result = carry_all(terms.may_fail, staging);
        free(staging);
    }
    together.count = 0;
    together.bytes = 0;
    together.fault = REDIST_FINE;
    return result;
}

void redist_moves_begin(const char *function)
{
    together.open = true;
    together.function = function;
}

int redist_moves_end(const epop_window_t *window)
{
    int result = run_together(window);
    free(together.moves);
    together.moves = NULL;
    together.room = 0;
    together.open = false;
    return result;
}

/* The same on all ranks. */
static double bytes_of_all(const redist_plan *plan, MPI_Datatype type)
{
    redist_element element = {.extent = 0};
    redist_element_of(type, &element);
    return (double)plan->before.rows.count * (double)plan->before.cols.count * (double)element.extent;
}

static int wait_for_others(struct move *m, MPI_Datatype type)
{
    const char *subject = redist_subject;
    double bytes = bytes_of_all(&m->plan, type);
    int result = together.bytes + bytes > TOGETHER_BYTES ? run_together(m->plan.window) : EPOP_OK;
    if (result != EPOP_OK)
        return result;
    redist_subject = subject; /* others were moved meanwhile */
    redist_traffic_array(subject);
    together.bytes += bytes;
    prepare(m, type);
    if (!note(m)) {
        together.fault = REDIST_NO_MEMORY;
        finish(m, EPOP_ERR_MEMORY);
    }
    return EPOP_OK;
}

int redist_move(const redist_plan *plan, MPI_Datatype type, void **local, const redist_terms *terms, redist_fault fault)
{
    struct move m = {.plan = *plan, .terms = *terms, .local = local, .subject = redist_subject, .fault = fault};
    if (together.open)
        return wait_for_others(&m, type);
    prepare(&m, type);
    return alone(&m);
}
