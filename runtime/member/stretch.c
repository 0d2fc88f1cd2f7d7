/* Stretches: a log of a process's first probes, and its form as a message. */
#include "runtime/member/stretch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

static const char *const names[] = {
    [FIRST_PROBE_FIND] = "find", [FIRST_PROBE_COUNTS] = "counts", [FIRST_PROBE_REPEATS] = "repeats"};

static const char *first_probe_name(enum first_probe what)
{
    return names[what];
}

int first_probe_of(const char *name)
{
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return (int)i;
    return -1;
}

/* ---- The log ------------------------------------------------------------------------------------ */

static bool same(const struct stretch *one, const struct stretch *other)
{
    return one->world == other->world && one->sent == other->sent && one->received == other->received &&
           one->parts == other->parts && one->balance == other->balance;
}

void stretch_note(struct stretch_log *log, const struct stretch *stretch)
{
    bool new = !log->count || !same(stretch, &log->at[log->count - 1].stretch);
    log->full |= new && log->count == STRETCHES_MOST;
    if (log->full)
        return;
    log->probe++;
    if (new)
        log->at[log->count++] = (struct stretch_at){log->probe, *stretch};
}

const struct stretch *stretch_up_to(const struct stretch_log *log, int64_t probe)
{
    int i = log->count - 1;
    while (i > 0 && log->at[i].probe > probe)
        i--;
    return &log->at[i].stretch;
}

/* ---- As messages -------------------------------------------------------------------------------- */

static cJSON *at_to_json(const struct stretch_at *at)
{
    const struct stretch *s = &at->stretch;
    cJSON *json = cJSON_CreateObject();
    char balance[20];
    snprintf(balance, sizeof balance, "%016" PRIx64, s->balance); /* a number of JSON's would lose bits */
    cJSON_AddNumberToObject(json, "probe", (double)at->probe);
    cJSON_AddNumberToObject(json, "world", (double)s->world);
    cJSON_AddNumberToObject(json, "sent", (double)s->sent);
    cJSON_AddNumberToObject(json, "received", (double)s->received);
    cJSON_AddNumberToObject(json, "parts", (double)s->parts);
    cJSON_AddStringToObject(json, "balance", balance);
    cJSON_AddNumberToObject(json, "seconds", s->seconds);
    return json;
}

static struct stretch_at at_of(const struct shape_stretch_done *done)
{
    return (struct stretch_at){.probe = done->probe,
                               .stretch = {.world = done->world,
                                           .sent = done->sent,
                                           .received = done->received,
                                           .parts = done->parts,
                                           .balance = strtoull(done->balance, NULL, 16),
                                           .seconds = done->seconds}};
}

cJSON *stretch_log_to_json(const struct stretch_log *log, int from)
{
    cJSON *message = json_message(REPORT(stretch));
    cJSON_AddNumberToObject(message, "adaptation", log->adaptation);
    cJSON_AddBoolToObject(message, "joins", log->joins);
    cJSON_AddStringToObject(message, "what", first_probe_name(log->what));
    cJSON_AddNumberToObject(message, "probe", (double)log->probe);
    cJSON_AddBoolToObject(message, "full", log->full);
    cJSON *done = cJSON_AddArrayToObject(message, "done");
    for (int i = from; i < log->count; i++)
        cJSON_AddItemToArray(done, at_to_json(&log->at[i]));
    return message;
}

void stretch_log_add(struct stretch_log *log, const struct report_stretch *report)
{
    if (log->adaptation != report->adaptation)
        *log = (struct stretch_log){.adaptation = report->adaptation};
    log->joins = report->joins;
    log->what = (enum first_probe)report->what;
    log->full = report->full;
    log->probe = report->probe;
    for (int i = 0; i < report->done.count && log->count < STRETCHES_MOST; i++)
        log->at[log->count++] = at_of(&report->done.items[i]);
}
