/* Stretches as messages: see stretch.h. */
#include "runtime/member/stretch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/control/messages.h"

static const char *const names[] = {
    [FIRST_PROBE_FIND] = "find", [FIRST_PROBE_COUNTS] = "counts", [FIRST_PROBE_REPEATS] = "repeats"};

const char *first_probe_name(enum first_probe what)
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

cJSON *stretch_report_to_json(const struct stretch_report *report)
{
    const struct stretch *s = &report->stretch;
    char balance[20];
    snprintf(balance, sizeof balance, "%016" PRIx64, s->balance); /* a number of JSON's would lose bits */
    cJSON *message = json_message(MESSAGE_STRETCH);
    cJSON_AddNumberToObject(message, "adaptation", report->adaptation);
    cJSON_AddNumberToObject(message, "probe", report->probe);
    cJSON_AddBoolToObject(message, "joins", report->joins);
    cJSON_AddStringToObject(message, "what", first_probe_name(report->what));
    cJSON_AddNumberToObject(message, "world", (double)s->world);
    cJSON_AddNumberToObject(message, "sent", (double)s->sent);
    cJSON_AddNumberToObject(message, "received", (double)s->received);
    cJSON_AddNumberToObject(message, "parts", (double)s->parts);
    cJSON_AddStringToObject(message, "balance", balance);
    cJSON_AddNumberToObject(message, "seconds", s->seconds);
    return message;
}

struct stretch_report stretch_report_from_json(const cJSON *json)
{
    const char *balance = json_text(json, "balance");
    int what = first_probe_of(json_text(json, "what"));
    return (struct stretch_report){.adaptation = json_int(json, "adaptation", 0),
                                   .probe = json_int(json, "probe", 0),
                                   .joins = json_true(json, "joins"),
                                   .what = what < 0 ? FIRST_PROBE_FIND : (enum first_probe)what,
                                   .stretch = {.world = json_int64(json, "world", 0),
                                               .sent = json_int64(json, "sent", 0),
                                               .received = json_int64(json, "received", 0),
                                               .parts = json_int64(json, "parts", 0),
                                               .balance = balance ? strtoull(balance, NULL, 16) : 0,
                                               .seconds = json_number(json, "seconds", 0)}};
}
