/* The roll calls of the walk: at each element, before each exec block, and for every answer of a condition. */
#include <stdio.h>

#include "driver/debug/debug.h"
#include "runtime/job/job.h"

static const epop_element_t *element_at(const epop_position_t *position, int pc)
{
    return pc >= 0 && pc < position->program->size ? &position->program->elements[pc] : NULL;
}

static const char *name_of(const epop_element_t *element)
{
    return element->name ? element->name : epop_element_type_name(element->type);
}

static void say(const struct debug *debug, const epop_position_t *position, const char *words, const void *next)
{
    struct claim claim = {.at = {.pc = position->pc, .visit = position->visit, .iteration = position->iteration},
                          .begins = next,
                          .words = words,
                          .block = next};
    if (!debug->joining)
        epop__job_rollcall(&claim);
}

/* A function's address as one of code. */
static const void *code_of(int (*function)(void *))
{
    return *(void **)&function;
}

static const void *branch_code(const epop_element_t *element)
{
    int (*function)(int, void *) = element->branch_condition;
    return *(void **)&function;
}

/* What the element is counts too: a program may have been made otherwise on one rank. */
void rolls_enter(const struct debug *debug, const epop_position_t *position)
{
    char words[200];
    const epop_element_t *element = element_at(position, position->pc);
    snprintf(words, sizeof words, "it enters '%.80s' (%s) of %d elements", name_of(element),
             epop_element_type_name(element->type), position->program->size);
    say(debug, position, words, element->type == EPOP_BRANCH ? branch_code(element) : NULL);
}

void rolls_begin(const struct debug *debug, const epop_position_t *position)
{
    say(debug, position, "its exec block is next", code_of(element_at(position, position->pc)->phase_exec));
}

static void say_branch(const struct debug *debug, const epop_position_t *position, int next)
{
    char words[160];
    const epop_element_t *element = element_at(position, next);
    if (element)
        snprintf(words, sizeof words, "its branch goes to element %d '%.80s'", next, name_of(element));
    else
        snprintf(words, sizeof words, "its branch goes to %d%s", next,
                 next == position->program->size ? ", the end" : "");
    say(debug, position, words, NULL);
}

/* A loop condition is asked behind its iteration, when the next one's number is there already. */
void rolls_decided(const struct debug *debug, const epop_position_t *position, int answer)
{
    epop_position_t done = *position;
    if (element_at(position, position->pc)->type == EPOP_BRANCH) {
        say_branch(debug, position, answer);
        return;
    }
    done.iteration--;
    say(debug, &done, answer ? "its loop condition answers go on" : "its loop condition answers stop", NULL);
}

void rolls_window(const struct debug *debug, const char *words)
{
    const epop_position_t *position = &debug->place.position;
    struct claim claim = {.at = {.pc = position->pc, .visit = position->visit, .iteration = position->iteration},
                          .window = true,
                          .words = words};
    epop__job_rollcall(&claim);
}

void rolls_finished(const struct debug *debug, const epop_position_t *position)
{
    epop_position_t end = *position;
    end.pc = position->program->size;
    end.iteration = 0;
    say(debug, &end, "it has come to the end of the program", NULL);
}
