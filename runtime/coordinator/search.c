/* The first probe that tells: see search.h. */
#include "runtime/coordinator/search.h"

#include <stdlib.h>

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
