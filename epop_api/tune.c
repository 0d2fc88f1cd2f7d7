/* The tunables that a program has registered. INIT and the drivers' hooks run in one thread: there is no lock. */
#include "epop_api/tune.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST 63

struct preset {
    char name[NAME_MOST + 1];
    int value;
};

static struct {
    epop_tunable_t *all; /* names and lists are owned */
    int count;
    struct preset *presets; /* of the job: they outlive the program */
    int preset_count;
} tunables;

static bool is_allowed(const epop_tunable_t *t, int value)
{
    if (!t->values)
        return value >= t->from && value <= t->to;
    for (int i = 0; i < t->count; i++)
        if (t->values[i] == value)
            return true;
    return false;
}

static bool is_name(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return false;
    return length > 0 && length <= NAME_MOST;
}

static bool makes_sense(const epop_tunable_t *t)
{
    if (!t || !is_name(t->name) || !t->value || (t->values ? t->count < 1 : t->from > t->to))
        return false;
    for (int i = 1; t->values && i < t->count; i++)
        if (t->values[i] <= t->values[i - 1])
            return false;
    return is_allowed(t, *t->value);
}

static void free_tunable(epop_tunable_t *t)
{
    free((void *)t->name);
    free((void *)t->values);
}

void epop__tunables_forget(void)
{
    while (tunables.count)
        free_tunable(&tunables.all[--tunables.count]);
    free(tunables.all);
    tunables.all = NULL;
}

int epop__tunable_preset(const char *name, int value)
{
    struct preset *grown = realloc(tunables.presets, (size_t)(tunables.preset_count + 1) * sizeof *grown);
    if (!grown)
        return EPOP_ERR_MEMORY;
    tunables.presets = grown;
    struct preset *preset = &grown[tunables.preset_count++];
    *preset = (struct preset){.value = value};
    strncat(preset->name, name, NAME_MOST);
    return EPOP_OK;
}

static void apply_presets(const epop_tunable_t *t)
{
    for (int i = 0; i < tunables.preset_count; i++)
        if (!strcmp(tunables.presets[i].name, t->name) && is_allowed(t, tunables.presets[i].value))
            *t->value = tunables.presets[i].value;
}

/* Of that name; where it is new, room for one more. NULL: no memory. */
static epop_tunable_t *place_of(const char *name)
{
    for (int i = 0; i < tunables.count; i++)
        if (!strcmp(tunables.all[i].name, name))
            return &tunables.all[i];
    epop_tunable_t *grown = realloc(tunables.all, (size_t)(tunables.count + 1) * sizeof *grown);
    if (grown)
        tunables.all = grown;
    return grown ? &grown[tunables.count] : NULL;
}

int epop_tunable_add(const epop_tunable_t *tunable)
{
    if (!makes_sense(tunable))
        return EPOP_ERR_ARGUMENT;
    epop_tunable_t copy = *tunable, *place = place_of(tunable->name);
    size_t bytes = (size_t)tunable->count * sizeof(int);
    copy.name = strdup(tunable->name);
    copy.values = tunable->values ? malloc(bytes) : NULL;
    if (!place || !copy.name || (tunable->values && !copy.values)) {
        free_tunable(&copy);
        return EPOP_ERR_MEMORY;
    }
    if (tunable->values)
        memcpy((void *)copy.values, tunable->values, bytes);
    if (place < tunables.all + tunables.count)
        free_tunable(place);
    else
        tunables.count++;
    *place = copy;
    apply_presets(place);
    return EPOP_OK;
}

int epop_tunable(const char *name, int *value, int from, int to)
{
    return epop_tunable_add(&(epop_tunable_t){.name = name, .value = value, .from = from, .to = to});
}

int epop_tunable_list(const char *name, int *value, const int *values, int count)
{
    if (!values)
        return EPOP_ERR_ARGUMENT;
    return epop_tunable_add(&(epop_tunable_t){.name = name, .value = value, .values = values, .count = count});
}

const epop_tunable_t *epop_tunable_at(int index)
{
    return index >= 0 && index < tunables.count ? &tunables.all[index] : NULL;
}

int epop_tunable_set(int index, int value)
{
    const epop_tunable_t *t = epop_tunable_at(index);
    if (!t || !is_allowed(t, value))
        return EPOP_ERR_ARGUMENT;
    *t->value = value;
    return EPOP_OK;
}
