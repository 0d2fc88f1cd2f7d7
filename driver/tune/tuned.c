#include "driver/tune/tuned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "epop_api/tune.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/base/say.h"

#define FORMAT 1
#define MOST   (1 << 20) /* bytes of a file */

static const char *const kinds[] = {[LEVER_TUNABLE] = "tunable", [LEVER_CVAR] = "cvar", [LEVER_THREADS] = "threads"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- Writing ------------------------------------------------------------------------------------ */

static cJSON *setting_to_json(const struct tuned_setting *setting)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "kind", kinds[setting->kind]);
    cJSON_AddStringToObject(json, "name", setting->name);
    cJSON_AddNumberToObject(json, "value", setting->value);
    cJSON_AddNumberToObject(json, "default", setting->usual);
    return json;
}

static cJSON *speed_to_json(const struct tuned_speed *speed)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "ranks", speed->ranks);
    cJSON_AddNumberToObject(json, "iterations", (double)speed->iterations);
    cJSON_AddNumberToObject(json, "seconds", speed->seconds);
    return json;
}

cJSON *tuned_to_json(const struct tuned *t)
{
    cJSON *json = cJSON_CreateObject(), *list;
    cJSON_AddNumberToObject(json, "tuned", FORMAT);
    cJSON_AddStringToObject(json, "program", t->program);
    cJSON_AddStringToObject(json, "phase", t->phase);
    cJSON_AddBoolToObject(json, "sure", t->sure);
    cJSON_AddNumberToObject(json, "bound", t->bound);
    cJSON_AddNumberToObject(json, "gain", t->gain);
    list = cJSON_AddArrayToObject(json, "settings");
    for (int i = 0; i < t->setting_count; i++)
        cJSON_AddItemToArray(list, setting_to_json(&t->settings[i]));
    cJSON_AddNumberToObject(json, "ranks", t->ranks);
    cJSON_AddItemToObject(json, "preferred", t->preferred ? cJSON_CreateNumber(t->preferred) : cJSON_CreateNull());
    list = cJSON_AddArrayToObject(json, "speeds");
    for (int i = 0; i < t->speed_count; i++)
        cJSON_AddItemToArray(list, speed_to_json(&t->speeds[i]));
    cJSON_AddNumberToObject(json, "runs", t->runs);
    cJSON_AddNumberToObject(json, "seconds", t->seconds);
    cJSON_AddItemToObject(json, "share", t->share >= 0 ? cJSON_CreateNumber(t->share) : cJSON_CreateNull());
    return json;
}

/* ---- Reading ------------------------------------------------------------------------------------ */

static bool read_setting(const cJSON *json, struct tuned_setting *setting)
{
    const char *kind = json_text(json, "kind"), *name = json_text(json, "name");
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, "value");
    int k = 0;
    while (kind && k < KINDS && strcmp(kinds[k], kind))
        k++;
    if (!kind || !name || k == KINDS || !name[0] || strlen(name) >= sizeof setting->name || !cJSON_IsNumber(value))
        return false;
    *setting = (struct tuned_setting){
        .kind = (enum lever_kind)k, .value = value->valueint, .usual = json_int(json, "default", value->valueint)};
    strcpy(setting->name, name);
    return true;
}

static bool read_speed(const cJSON *json, struct tuned_speed *speed)
{
    *speed = (struct tuned_speed){.ranks = json_int(json, "ranks", 0),
                                  .iterations = (int64_t)json_number(json, "iterations", 0),
                                  .seconds = json_number(json, "seconds", 0)};
    return speed->ranks > 0 && speed->iterations > 0 && speed->seconds > 0;
}

static bool read_all(const cJSON *json, struct tuned *t)
{
    const cJSON *each;
    const char *program = json_text(json, "program"), *phase = json_text(json, "phase");
    if (json_int(json, "tuned", 0) != FORMAT || !program || !phase)
        return false;
    snprintf(t->program, sizeof t->program, "%s", program);
    snprintf(t->phase, sizeof t->phase, "%s", phase);
    t->ranks = json_int(json, "ranks", 0);
    t->preferred = json_int(json, "preferred", 0);
    cJSON_ArrayForEach(each,
                       cJSON_GetObjectItemCaseSensitive(
                           json, "settings")) if (t->setting_count == SEARCH_KNOBS ||
                                                  !read_setting(each, &t->settings[t->setting_count++])) return false;
    cJSON_ArrayForEach(each, cJSON_GetObjectItemCaseSensitive(
                                 json, "speeds")) if (t->speed_count == SEARCH_VALUES ||
                                                      !read_speed(each, &t->speeds[t->speed_count++])) return false;
    return true;
}

int tuned_read(const char *path, struct tuned *tuned, struct error *error)
{
    *tuned = (struct tuned){.share = -1};
    char *text = file_read(path, MOST, error);
    if (!text)
        return -1;
    cJSON *json = cJSON_Parse(text);
    bool read = json && read_all(json, tuned);
    cJSON_Delete(json);
    free(text);
    return read ? 0 : error_set(error, ERROR_REFUSED, "%s: it is no result of the driver 'tune'", path);
}

/* ---- Setting ------------------------------------------------------------------------------------ */

int tuned_preset(const struct tuned *tuned, struct error *error)
{
    for (int i = 0; i < tuned->setting_count; i++)
        if (tuned->settings[i].kind == LEVER_TUNABLE &&
            epop__tunable_preset(tuned->settings[i].name, tuned->settings[i].value))
            return error_memory(error);
    return 0;
}

void tuned_set(const struct tuned *tuned, bool speaks)
{
    for (int i = 0; i < tuned->setting_count; i++) {
        const struct tuned_setting *setting = &tuned->settings[i];
        int result = EPOP_OK;
        if (setting->kind == LEVER_CVAR)
            result = levers_set_cvar(setting->name, setting->value);
        else if (setting->kind == LEVER_THREADS)
            result = levers_set_threads(setting->value);
        if (result && speaks)
            say_line("note: --tuned: %s %s cannot be set here", kinds[setting->kind], setting->name);
    }
}
