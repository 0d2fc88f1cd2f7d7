/* What a job has measured, in short: see measured.h. */
#include "epopctl/measured.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/json.h"
#include "terminal/output.h"

static bool is_present(const cJSON *status, const cJSON *element)
{
    int pc = json_int(cJSON_GetObjectItem(status, "element"), "pc", -1);
    return json_int(element, "pc", -2) == pc && json_int(element, "size", 0) == json_int(status, "size", -1);
}

static const cJSON *element_to_show(const cJSON *status, const cJSON *measure)
{
    const cJSON *element, *found = NULL;
    cJSON_ArrayForEach(element, cJSON_GetObjectItem(measure, "elements"))
    {
        double iterations = json_number(element, "iterations", 0);
        if (is_present(status, element) && iterations > 0)
            return element;
        if (iterations > json_number(found, "iterations", 0))
            found = element;
    }
    return found;
}

static void figure(const cJSON *object, const char *name, char text[32])
{
    strcpy(text, "-");
    if (cJSON_HasObjectItem(object, name))
        snprintf(text, 32, "%.3g", json_number(object, name, 0));
}

/* "1.2 GiB" of all ranks together, "-" */
static void memory(const cJSON *measure, char text[32])
{
    const cJSON *rank;
    double bytes = 0;
    strcpy(text, "-");
    cJSON_ArrayForEach(rank, cJSON_GetObjectItem(measure, "memory")) bytes += json_number(rank, "bytes", 0);
    if (bytes > 0)
        term_bytes(bytes, text);
}

void ctl_measured(const cJSON *status, struct ctl_measured *measured)
{
    const cJSON *measure = cJSON_GetObjectItem(status, "measure"), *element = element_to_show(status, measure);
    const cJSON *mtct = cJSON_GetObjectItem(element, "mtct");
    figure(element, "rate", measured->rate);
    figure(mtct, "mean", measured->mtct);
    figure(mtct, "trend", measured->trend);
    memory(measure, measured->memory);
}

bool ctl_measured_too_short(const cJSON *status, double seconds)
{
    const cJSON *measure = cJSON_GetObjectItem(status, "measure");
    double began = json_number(measure, "began", 0);
    return measure && json_number(measure, "time", began) - began < seconds;
}
