/*
 * What the checks of the debug driver share: where the program is, the line about a breach, and roll calls of all
 * ranks.
 */
#include "driver/debug/contract.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "runtime/job/job.h"

static pthread_mutex_t place_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool runs_blocks; /* this is the program's own thread */

struct place contract_place(const struct debug *d)
{
    pthread_mutex_lock(&place_lock);
    struct place place = d->place;
    pthread_mutex_unlock(&place_lock);
    return place;
}

void contract_moves(struct debug *d, const epop_position_t *position)
{
    pthread_mutex_lock(&place_lock);
    d->place.position = *position;
    pthread_mutex_unlock(&place_lock);
}

void contract_enters(struct debug *d, const epop_position_t *position, epop_block_t block)
{
    pthread_mutex_lock(&place_lock);
    d->place = (struct place){*position, block, d->place.run + 1};
    runs_blocks = true;
    pthread_mutex_unlock(&place_lock);
}

const char *contract_block_text(epop_block_t block)
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

void contract_breach(const epop_position_t *position, const char *format, ...)
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

/* ---- What all ranks claim alike ----------------------------------------------------------------- */

static const epop_element_t *element_at(const epop_position_t *position, int pc)
{
    return pc >= 0 && pc < position->program->size ? &position->program->elements[pc] : NULL;
}

static const char *element_name(const epop_element_t *element)
{
    return element->name ? element->name : epop_element_type_name(element->type);
}

static void claim_of_rank(const struct debug *debug, const epop_position_t *position, const char *words,
                          const void *next)
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
void contract_claim_element(const struct debug *debug, const epop_position_t *position)
{
    char words[200];
    const epop_element_t *element = element_at(position, position->pc);
    snprintf(words, sizeof words, "it enters '%.80s' (%s) of %d elements", element_name(element),
             epop_element_type_name(element->type), position->program->size);
    claim_of_rank(debug, position, words, element->type == EPOP_BRANCH ? branch_code(element) : NULL);
}

void contract_claim_block(const struct debug *debug, const epop_position_t *position)
{
    claim_of_rank(debug, position, "its exec block is next", code_of(element_at(position, position->pc)->phase_exec));
}

static void claim_branch(const struct debug *debug, const epop_position_t *position, int next)
{
    char words[160];
    const epop_element_t *element = element_at(position, next);
    if (element)
        snprintf(words, sizeof words, "its branch goes to element %d '%.80s'", next, element_name(element));
    else
        snprintf(words, sizeof words, "its branch goes to %d%s", next,
                 next == position->program->size ? ", the end" : "");
    claim_of_rank(debug, position, words, NULL);
}

/* A loop condition is asked behind its iteration, when the next one's number is there already. */
void contract_claim_answer(const struct debug *debug, const epop_position_t *position, int answer)
{
    epop_position_t done = *position;
    if (element_at(position, position->pc)->type == EPOP_BRANCH) {
        claim_branch(debug, position, answer);
        return;
    }
    done.iteration--;
    claim_of_rank(debug, &done, answer ? "its loop condition answers go on" : "its loop condition answers stop", NULL);
}

bool contract_is_in_phase(const struct debug *debug)
{
    epop_block_t block = debug->place.block;
    return runs_blocks && (block == EPOP_BLOCK_EXEC || block == EPOP_BLOCK_LOOP || block == EPOP_BLOCK_BRANCH);
}

void contract_claim_call(const struct debug *debug, const char *words)
{
    claim_of_rank(debug, &debug->place.position, words, NULL);
}

void contract_claim_in_window(const struct debug *debug, const char *words)
{
    const epop_position_t *position = &debug->place.position;
    struct claim claim = {.at = {.pc = position->pc, .visit = position->visit, .iteration = position->iteration},
                          .window = true,
                          .words = words};
    epop__job_rollcall(&claim);
}

void contract_claim_end(const struct debug *debug, const epop_position_t *position)
{
    epop_position_t end = *position;
    end.pc = position->program->size;
    end.iteration = 0;
    claim_of_rank(debug, &end, "it has come to the end of the program", NULL);
}
