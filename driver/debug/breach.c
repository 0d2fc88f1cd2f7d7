/* Where the program is, and the line that names who breaks the contract. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "driver/debug/debug.h"
#include "runtime/job/job.h"

static pthread_mutex_t place_lock = PTHREAD_MUTEX_INITIALIZER;

struct place debug_place(const struct debug *d)
{
    pthread_mutex_lock(&place_lock);
    struct place place = d->place;
    pthread_mutex_unlock(&place_lock);
    return place;
}

void debug_moves(struct debug *d, const epop_position_t *position)
{
    pthread_mutex_lock(&place_lock);
    d->place.position = *position;
    pthread_mutex_unlock(&place_lock);
}

void debug_enters(struct debug *d, const epop_position_t *position, epop_block_t block)
{
    pthread_mutex_lock(&place_lock);
    d->place = (struct place){*position, block, d->place.run + 1};
    pthread_mutex_unlock(&place_lock);
}

const char *block_text(epop_block_t block)
{
    static const char *const text[] = {
        [EPOP_BLOCK_INIT] = "INIT",
        [EPOP_BLOCK_ADAPT] = "its adapt block",
        [EPOP_BLOCK_EXEC] = "its exec block",
        [EPOP_BLOCK_LOOP] = "its loop condition",
        [EPOP_BLOCK_BRANCH] = "its branch condition",
    };
    return text[block];
}

void breach(const epop_position_t *position, const char *format, ...)
{
    char what[500], text[900];
    const epop_element_t *element = &position->program->elements[position->pc];
    const char *type = epop_element_type_name(element->type);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(text, sizeof text, "%s: element %d '%s' (%s), iteration %lld, rank %d of %d: %s", position->program->name,
             position->pc, element->name ? element->name : type, type, (long long)position->iteration, position->rank,
             position->size, what);
    epop__job_breach(text);
}
