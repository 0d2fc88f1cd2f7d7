/* epoprm nodes. */
#include <stdio.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "scheduler/epoprm/client.h"
#include "scheduler/epoprm/command.h"
#include "terminal/output.h"

static void add(struct term_table *table, const cJSON *node)
{
    char slots[16], job[32] = "", since[32];
    snprintf(slots, sizeof slots, "%d", json_int(node, "slots", 0));
    if (cJSON_HasObjectItem(node, "job"))
        snprintf(job, sizeof job, "%.0f", json_number(node, "job", 0));
    term_duration(wall_seconds() - json_number(node, "since", wall_seconds()), since);
    term_table_add(table, (const char *[]){term_text(node, "node", ""), term_text(node, "host", ""), slots,
                                           term_text(node, "state", ""), job, since, term_text(node, "reason", "")});
}

int rm_nodes(const struct rm_arguments *arguments)
{
    int code;
    cJSON *answer = client_request(json_message("nodes"), &code);
    const cJSON *nodes = cJSON_GetObjectItem(answer, "nodes");
    if (nodes && arguments->json) {
        term_print_json(nodes);
    } else if (nodes) {
        static const char *const titles[] = {"NODE", "HOST", "SLOTS", "STATE", "JOB", "SINCE", "REASON"};
        struct term_table *table = term_table_new(7, titles);
        for (const cJSON *node = nodes->child; node; node = node->next)
            add(table, node);
        term_table_print(table);
    }
    cJSON_Delete(answer);
    return code;
}
