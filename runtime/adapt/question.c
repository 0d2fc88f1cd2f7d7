/* Questions about process sets, and their answers. */
#include "runtime/adapt/question.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/adapt/agent.h"
#include "runtime/adapt/part.h"
#include "runtime/base/json.h"
#include "runtime/member/asks.h"
#include "runtime/member/member.h"
#include "runtime/psets/psets.h"
#include "runtime/wire/messages.h"
#include "runtime/world/world.h"

#define END_LIMIT 10 /* seconds */

cJSON *question(const char *about)
{
    cJSON *message = json_message(REPORT(ask));
    cJSON_AddStringToObject(message, "about", about);
    return message;
}

static char birth[PSETS_NAME_MAX];
static atomic_bool is_apart; /* from the others: else mpi://WORLD is that of all */

static const char *meant(const char *set)
{
    return atomic_load(&is_apart) && !strcmp(set, PSETS_WORLD) ? birth : set;
}

void question_name(cJSON *message, const char *key, const char *set)
{
    cJSON_AddStringToObject(message, key, meant(set));
}

void question_names(cJSON *message, const char *key, char *const *sets, int count)
{
    cJSON *list = cJSON_AddArrayToObject(message, key);
    for (int i = 0; i < count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(meant(sets[i])));
}

void question_birth(void)
{
    struct error unheard;
    cJSON *answer = question_ask(question("birth"), &unheard);
    const char *name = json_text(answer, "set");
    snprintf(birth, sizeof birth, "%s", name ? name : "");
    atomic_store(&is_apart, birth[0]);
    cJSON_Delete(answer);
}

void question_grown(void)
{
    atomic_store(&is_apart, false);
}

void question_all(cJSON *message, const char *key)
{
    char *list = cJSON_PrintUnformatted(cJSON_GetObjectItemCaseSensitive(message, key));
    cJSON_AddStringToObject(message, "key", list ? list : "");
    cJSON_free(list);
}

void question_together(cJSON *message, const char *set, const char *what)
{
    char key[600];
    snprintf(key, sizeof key, "%.40s %.255s %.255s", json_text(message, "about"), meant(set), meant(what));
    question_name(message, "with", set);
    cJSON_AddStringToObject(message, "key", key);
}

const char *answer_refusal(const cJSON *answer)
{
    if (!answer)
        return "the job is ending";
    return json_true(answer, "ok") ? NULL : json_text(answer, "reason");
}

static const char *cannot_ask(void)
{
    if (!world.member)
        return "there is no job, which MPI_Session_init or MPI_Init_adapt begins";
    return part_now() == PART_LEFT ? "this process has left the job" : NULL;
}

/* One that was told to stop is ended by its agent: there is nothing that its program could do with an error. */
static void end_with_job(void)
{
    agent_end_if_off();
    if (part_has_sessions() && member_is_finished(world.member))
        sleep(END_LIMIT);
}

cJSON *question_ask(cJSON *message, struct error *why)
{
    const char *reason = cannot_ask();
    if (reason) {
        cJSON_Delete(message);
        error_set(why, ERROR_FAILED, "%s", reason);
        return NULL;
    }
    cJSON *answer = member_ask(world.member, message, NULL);
    agent_end_if_off();
    reason = answer_refusal(answer);
    if (!reason)
        return answer;
    end_with_job();
    error_set(why, ERROR_FAILED, "%s", reason);
    cJSON_Delete(answer);
    return NULL;
}

void question_tell(cJSON *message)
{
    cJSON_AddNumberToObject(message, "id", 0);
    world.member->tell(world.member->context, message);
    cJSON_Delete(message);
}

char **answer_sets(const cJSON *answer, int *count)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(answer, "sets"), *name;
    int size = cJSON_GetArraySize(list);
    char **names = size ? malloc((size_t)size * sizeof *names) : NULL;
    *count = 0;
    cJSON_ArrayForEach(name, list)
    {
        if (names)
            names[(*count)++] = strdup(name->valuestring);
    }
    return names;
}

/* ---- Info objects ----------------------------------------------------------------------- */

bool info_text(MPI_Info info, const char *key, char text[MPI_MAX_INFO_VAL + 1])
{
    int found = 0;
    if (info != MPI_INFO_NULL)
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &found);
    return found;
}

cJSON *info_to_json(MPI_Info info)
{
    cJSON *json = cJSON_CreateObject();
    int count = 0;
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    if (info != MPI_INFO_NULL)
        MPI_Info_get_nkeys(info, &count);
    for (int i = 0; i < count; i++) {
        MPI_Info_get_nthkey(info, i, key);
        if (info_text(info, key, value))
            cJSON_AddStringToObject(json, key, value);
    }
    return json;
}

void info_set(MPI_Info info, const char *key, const char *value)
{
    MPI_Info_set(info, key, value);
}

void info_set_number(MPI_Info info, const char *key, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.0f", value);
    MPI_Info_set(info, key, text);
}
