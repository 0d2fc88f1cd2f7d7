/* The count of joining processes: see settle.h. */
#include "runtime/coordinator/settle.h"

#include <stdlib.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/fatal.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/search.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

/* When nothing goes between staying and joining processes for so long, it is not waited for. */
#define PROBES  31
#define SECONDS 0.5

static bool has_told(const struct coordinator *c, const struct process *p)
{
    return p->told && p->told->adaptation == c->processes.world_id;
}

static bool has_joined(const struct coordinator *c, const struct process *p)
{
    return has_told(c, p) && p->told->joins;
}

static bool is_told(const struct process *p)
{
    return p->told->what != FIRST_PROBE_FIND;
}

bool settle_awaits(const struct coordinator *c, const struct process *p)
{
    if (!c->settling.open || p->rank < 0 || p->ended)
        return false;
    return !has_told(c, p) || !(is_told(p) || p->told->full || p->told->probe >= c->settling.wanted + p->told->joins);
}

static void tell_all(struct coordinator *c, int shift)
{
    for (int r = 0; r < c->processes.size; r++) {
        cJSON *message = json_message(ORDER(settled));
        cJSON_AddNumberToObject(message, "adaptation", c->processes.world_id);
        cJSON_AddNumberToObject(message, "shift", has_joined(c, process_of_rank(c, r)) ? shift : 0);
        processes_send(c, c->processes.world[r], message);
    }
}

static enum first_probe said_by(const struct coordinator *c, bool joined)
{
    for (int r = 0; r < c->processes.size; r++) {
        const struct process *p = process_of_rank(c, r);
        if (has_told(c, p) && p->told->joins == joined && is_told(p))
            return p->told->what;
    }
    return FIRST_PROBE_FIND;
}

/* What they say of themselves, or the others of them; FIND: nothing. */
static enum first_probe declared(const struct coordinator *c)
{
    enum first_probe what = said_by(c, true);
    return what == FIRST_PROBE_FIND ? said_by(c, false) : what;
}

/* ---- By what they did ---------------------------------------------------------------------- */

/* Those that have ended before they said everything are left out: nothing is agreed any more then. */
static void collect(struct coordinator *c, struct search *search)
{
    for (int r = 0; r < c->processes.size; r++) {
        const struct process *p = process_of_rank(c, r);
        if (has_told(c, p) && !is_told(p) && p->told->probe > p->told->joins)
            search_add(search, p->told);
    }
}

/* Some have no more to say, or nothing has gone between them for long. */
static bool is_enough(const struct coordinator *c, const struct search *search)
{
    const struct settling *s = &c->settling;
    return search_known(search) < s->wanted || (s->wanted >= PROBES && monotonic_seconds() - s->begun >= SECONDS);
}

static struct verdict find(struct coordinator *c)
{
    struct verdict verdict = {.what = declared(c), .sure = true};
    struct search search;
    if (verdict.what != FIRST_PROBE_FIND)
        return verdict;
    if (search_init(&search, c->processes.size)) {
        fatal_memory(c);
        return verdict;
    }
    collect(c, &search);
    verdict = search_verdict(&search, c->settling.judged);
    c->settling.judged = c->settling.wanted;
    verdict.open = verdict.open && !is_enough(c, &search);
    search_free(&search);
    return verdict;
}

static bool all_have_told(const struct coordinator *c)
{
    for (int r = 0; r < c->processes.size; r++)
        if (settle_awaits(c, process_of_rank(c, r)))
            return false;
    return true;
}

void settle_look(struct coordinator *c)
{
    struct settling *s = &c->settling;
    while (s->open && all_have_told(c)) {
        struct verdict verdict = find(c);
        s->open = verdict.open;
        s->wanted = 2 * s->wanted + 1;
        if (s->open)
            continue;
        s->what = verdict.what;
        s->sure = verdict.sure;
        tell_all(c, verdict.what == FIRST_PROBE_REPEATS ? -1 : 0);
    }
}

void settle_begin(struct coordinator *c, int joining)
{
    c->settling = (struct settling){.open = c->config.executable && joining, .wanted = 1, .begun = monotonic_seconds()};
    settle_look(c);
}

/* May come before the last process is through the window. */
void settle_stretch(struct coordinator *c, int process, const struct report_stretch *report)
{
    struct process *p = process_at(c, process);
    if (!p->told)
        p->told = calloc(1, sizeof *p->told);
    if (!p->told) {
        fatal_memory(c);
        return;
    }
    stretch_log_add(p->told, report);
    settle_look(c);
}

/* Is there one that joined, or one that stayed, which has arrived, or has not? */
static bool is_there(const struct coordinator *c, bool joined, bool arrived)
{
    for (int r = 0; r < c->processes.size; r++) {
        const struct process *p = process_of_rank(c, r);
        if (!p->ended && has_joined(c, p) == joined && p->arrived == arrived)
            return true;
    }
    return false;
}

/* Joining ones that hold too early repeat; where they have run past the target, they count. */
bool settle_correct(struct coordinator *c)
{
    struct settling *s = &c->settling;
    bool counts = s->what == FIRST_PROBE_COUNTS;
    if (s->open || s->sure || s->what == FIRST_PROBE_FIND)
        return false;
    if (!is_there(c, counts, true) || !is_there(c, !counts, false))
        return false;
    s->what = counts ? FIRST_PROBE_REPEATS : FIRST_PROBE_COUNTS;
    s->sure = true;
    tell_all(c, counts ? -1 : 1);
    return true;
}

bool settle_is_open(const struct coordinator *c)
{
    return c->settling.open;
}
