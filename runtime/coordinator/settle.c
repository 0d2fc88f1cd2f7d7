/* How the joining processes of an executable count their probes. */
#include "runtime/coordinator/settle.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/processes.h"
#include "runtime/coordinator/replies.h"
#include "runtime/coordinator/state.h"
#include "runtime/wire/messages.h"

/* ---- Searching ----------------------------------------------------------------------------------- */

int search_init(struct search *s, int most)
{
    *s = (struct search){.logs = malloc((size_t)most * sizeof *s->logs),
                         .room = malloc((size_t)most * 3 * sizeof *s->room)};
    if (s->logs && s->room)
        return 0;
    search_free(s);
    return -1;
}

void search_free(struct search *s)
{
    free(s->logs);
    free(s->room);
}

void search_add(struct search *s, const struct stretch_log *log)
{
    s->logs[s->count++] = log;
}

int64_t search_known(const struct search *s)
{
    int64_t known = INT64_MAX;
    for (int i = 0; i < s->count; i++) {
        int64_t probe = s->logs[i]->probe - s->logs[i]->joins;
        known = probe < known ? probe : known;
    }
    return known;
}

/* The next probe at which anybody had done something more. */
static int64_t next_change(const struct search *s, int64_t after)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < s->count; i++)
        for (int a = 0; a < s->logs[i]->count; a++) {
            int64_t last = s->logs[i]->at[a].probe;
            for (int64_t probe = last - s->logs[i]->joins; probe <= last; probe++)
                next = probe > after && probe < next ? probe : next;
        }
    return next;
}

static struct verdict judge(const struct search *s, int64_t probe)
{
    struct stretch *staying = s->room, *first = s->room + s->count, *second = first + s->count;
    struct evidence e = {.staying = staying, .first = first, .second = second};
    for (int i = 0; i < s->count; i++) {
        if (s->logs[i]->joins) {
            first[e.joined] = *stretch_up_to(s->logs[i], probe);
            second[e.joined++] = *stretch_up_to(s->logs[i], probe + 1);
        } else {
            staying[e.stayed++] = *stretch_up_to(s->logs[i], probe);
        }
    }
    return e.stayed && e.joined ? verdict_of(&e) : (struct verdict){.what = FIRST_PROBE_FIND};
}

struct verdict search_verdict(const struct search *s, int64_t after)
{
    int64_t known = search_known(s), probe = after > 1 ? after : 1;
    struct verdict first = judge(s, 1), verdict = first;
    while (verdict.open && (probe = next_change(s, probe)) <= known)
        verdict = judge(s, probe);
    return verdict.open ? first : verdict;
}

/* ---- The verdict --------------------------------------------------------------------------------- */

#define FAR_SHORTER 4 /* times */

/* ---- Does everything fit together? --------------------------------------------------------------- */

static bool fits(const struct evidence *e, const struct stretch *joining)
{
    uint64_t sum = 0;
    bool meet = true;
    for (int i = 0; i < e->stayed; i++) {
        sum += e->staying[i].balance;
        meet &= e->staying[i].world == e->staying[0].world;
    }
    for (int i = 0; i < e->joined; i++) {
        sum += joining[i].balance;
        meet &= joining[i].world == e->staying[0].world;
    }
    return meet && sum == 0;
}

static bool is_silent(const struct stretch *s, int count)
{
    for (int i = 0; i < count; i++)
        if (s[i].world || s[i].sent || s[i].received || s[i].parts)
            return false;
    return true;
}

/* ---- Which one is nearer? ------------------------------------------------------------------------ */

struct mean {
    double world, sent, received, parts, seconds;
};

static struct mean mean_of(const struct stretch *s, int count)
{
    struct mean mean = {0};
    for (int i = 0; i < count; i++) {
        mean.world += (double)s[i].world / count;
        mean.sent += (double)s[i].sent / count;
        mean.received += (double)s[i].received / count;
        mean.parts += (double)s[i].parts / count;
        mean.seconds += s[i].seconds / count;
    }
    return mean;
}

static double unmet(const struct evidence *e, const struct stretch *joining)
{
    return fabs(mean_of(joining, e->joined).world - mean_of(e->staying, e->stayed).world);
}

static double unreceived(const struct evidence *e, const struct stretch *joining)
{
    struct mean one = mean_of(e->staying, e->stayed), other = mean_of(joining, e->joined);
    return fabs((one.sent - one.received) * e->stayed + (other.sent - other.received) * e->joined);
}

/* A program does much the same on all processes. */
static double unlike(const struct evidence *e, const struct stretch *joining)
{
    struct mean mean = mean_of(e->staying, e->stayed);
    double all = 0;
    for (int i = 0; i < e->joined; i++)
        all += fabs((double)joining[i].world - mean.world) + fabs((double)joining[i].sent - mean.sent) +
               fabs((double)joining[i].received - mean.received) + fabs((double)joining[i].parts - mean.parts);
    return all;
}

static enum first_probe by_time(const struct evidence *e)
{
    double one = mean_of(e->first, e->joined).seconds, all = mean_of(e->staying, e->stayed).seconds;
    return one * FAR_SHORTER < all ? FIRST_PROBE_REPEATS : FIRST_PROBE_COUNTS;
}

/* FIND: none is. */
static enum first_probe nearer(const struct evidence *e)
{
    static double (*const apart[])(const struct evidence *, const struct stretch *) = {unmet, unlike, unreceived};
    static const double rounding = 1e-6;
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        double more = apart[i](e, e->first) - apart[i](e, e->second);
        if (fabs(more) > rounding)
            return more > 0 ? FIRST_PROBE_REPEATS : FIRST_PROBE_COUNTS;
    }
    return FIRST_PROBE_FIND;
}

struct verdict verdict_of(const struct evidence *e)
{
    bool counts = fits(e, e->first), repeats = fits(e, e->second);
    if (counts != repeats)
        return (struct verdict){.what = counts ? FIRST_PROBE_COUNTS : FIRST_PROBE_REPEATS, .sure = true};
    bool silent = is_silent(e->staying, e->stayed) || is_silent(e->second, e->joined);
    enum first_probe what = silent ? FIRST_PROBE_FIND : nearer(e);
    bool open = counts || what == FIRST_PROBE_FIND;
    return (struct verdict){.what = what == FIRST_PROBE_FIND ? by_time(e) : what, .open = open};
}

/* ---- With the ranks ------------------------------------------------------------------------------ */

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

static void settle_tell_all(struct coordinator *c, int shift)
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

/* ---- By what they did ---------------------------------------------------------------------------- */

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

static struct verdict settle_find(struct coordinator *c)
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
        struct verdict verdict = settle_find(c);
        s->open = verdict.open;
        s->wanted = 2 * s->wanted + 1;
        if (s->open)
            continue;
        s->what = verdict.what;
        s->sure = verdict.sure;
        settle_tell_all(c, verdict.what == FIRST_PROBE_REPEATS ? -1 : 0);
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
static bool settle_is_there(const struct coordinator *c, bool joined, bool arrived)
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
    if (!settle_is_there(c, counts, true) || !settle_is_there(c, !counts, false))
        return false;
    s->what = counts ? FIRST_PROBE_REPEATS : FIRST_PROBE_COUNTS;
    s->sure = true;
    settle_tell_all(c, counts ? -1 : 1);
    return true;
}

bool settle_is_open(const struct coordinator *c)
{
    return c->settling.open;
}
