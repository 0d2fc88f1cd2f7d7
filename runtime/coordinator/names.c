/* What things are called: see names.h. */
#include "runtime/coordinator/names.h"

#include "runtime/coordinator/state.h"

const char *names_element(const struct coordinator *c, int pc)
{
    const epop_program_t *program = c->config.program;
    if (pc < 0 || pc >= program->size)
        return "";
    const epop_element_t *element = &program->elements[pc];
    return element->name ? element->name : epop_element_type_name(element->type);
}

cJSON *names_element_json(const struct coordinator *c, const struct position *at)
{
    if (at->pc < 0 || at->pc >= c->config.program->size)
        return cJSON_CreateNull();
    cJSON *json = cJSON_CreateObject();
    position_to_json(at, json);
    cJSON_AddStringToObject(json, "name", names_element(c, at->pc));
    cJSON_AddStringToObject(json, "type", epop_element_type_name(c->config.program->elements[at->pc].type));
    return json;
}

const char *names_process_state(enum process_state state)
{
    static const char *const text[] = {
        [PROCESS_STANDBY] = "standby", [PROCESS_JOINING] = "joining",   [PROCESS_RUNNING] = "running",
        [PROCESS_LEAVING] = "leaving", [PROCESS_RETURNING] = "leaving", [PROCESS_SPENT] = "spent",
        [PROCESS_GONE] = "gone",       [PROCESS_LOST] = "lost",         [PROCESS_HOSTING] = "hosting",
    };
    return text[state];
}

const char *names_adaptation_state(enum adaptation_state state)
{
    static const char *const text[] = {
        [ADAPTATION_PREPARING] = "preparing", [ADAPTATION_PREPARED] = "prepared", [ADAPTATION_WINDOW] = "window",
        [ADAPTATION_COMMITTED] = "committed", [ADAPTATION_FAILED] = "failed",     [ADAPTATION_CANCELLED] = "cancelled",
    };
    return text[state];
}

const char *names_requester(enum requester by)
{
    static const char *const text[] = {[BY_EPOPCTL] = "epopctl", [BY_PROGRAM] = "program", [BY_PHASE] = "phase"};
    return text[by];
}
