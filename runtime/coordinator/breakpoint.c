/* Reading PHASE[:ITERATION][@RANK]. A name may contain both signs: what is no number behind one belongs to the name. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/member/claim.h"

/* Cuts SIGN and a number off the end of text. -1 where there is none. */
static long long cut_number(char *text, char sign)
{
    char *at = strrchr(text, sign), *end;
    if (!at || at == text || at[1] < '0' || at[1] > '9')
        return -1;
    errno = 0;
    long long number = strtoll(at + 1, &end, 10);
    if (*end || errno)
        return -1;
    *at = '\0';
    return number;
}

static const char *name_of(const epop_element_t *element)
{
    return element->name ? element->name : epop_element_type_name(element->type);
}

/* By name, else by number. */
static int find_element(const epop_program_t *program, const char *name)
{
    char *end;
    for (int pc = 0; pc < program->size; pc++)
        if (!strcmp(name_of(&program->elements[pc]), name))
            return pc;
    long pc = strtol(name, &end, 10);
    return *name && !*end && pc >= 0 && pc < program->size ? (int)pc : -1;
}

int epop__breakpoint_parse(const epop_program_t *program, const char *text, struct breakpoint *b, struct error *why)
{
    char name[sizeof b->text];
    if (!text[0] || strlen(text) >= sizeof name) {
        return error_set(why, ERROR_FAILED, "a place to stop at is PHASE[:ITERATION][@RANK], not '%.80s'", text);
    }
    strcpy(name, text);
    strcpy(b->text, text);
    long long rank = cut_number(name, '@');
    b->rank = rank > INT_MAX ? INT_MAX : (int)rank;
    b->iteration = cut_number(name, ':');
    b->pc = find_element(program, name);
    if (b->pc < 0)
        error_set(why, ERROR_FAILED, "%.100s has no element '%.80s'; see epop --driver check", program->name, name);
    else if (b->pc == 0)
        error_set(why, ERROR_FAILED, "INIT is no place to stop at: ranks that join run it on their own");
    else if (program->elements[b->pc].type == EPOP_BRANCH && b->iteration > 0)
        error_set(why, ERROR_FAILED, "element %d '%.80s' is a branch and has no iteration %lld", b->pc, name,
                  (long long)b->iteration);
    else
        return 0;
    return -1;
}
