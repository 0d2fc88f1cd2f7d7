/* The structural checks that a program passes before any of its blocks runs. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include <epop/program.h>

#include "epop_api/program.h"

/* Where the one line of text goes, and for which program. */
struct report {
    const epop_program_t *program;
    char *text;
    int size;
};

static int __attribute__((format(printf, 3, 4))) refuse(const struct report *report, int pc, const char *format, ...)
{
    if (!report->text || report->size < 1)
        return EPOP_ERR_ARGUMENT;
    const char *name = report->program ? report->program->name : NULL;
    int used = snprintf(report->text, (size_t)report->size, "program%s%s%s: ", name ? " '" : "", name ? name : "",
                        name ? "'" : "");
    if (pc >= 0 && used < report->size) {
        const epop_element_t *element = &report->program->elements[pc];
        const char *type = epop_element_type_name(element->type);
        used += snprintf(report->text + used, (size_t)(report->size - used), "element %d '%s' (%s): ", pc,
                         element->name ? element->name : type, type);
    }
    if (used < report->size) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(report->text + used, (size_t)(report->size - used), format, arguments);
        va_end(arguments);
    }
    return EPOP_ERR_ARGUMENT;
}

static int check_sizes(const struct report *report, int pc, const epop_sizes_t *sizes)
{
    if ((unsigned)sizes->kind > EPOP_SIZE_FUNCTION)
        return refuse(report, pc, "the size rule has the unknown kind %d", (int)sizes->kind);
    if (sizes->min < 0 || sizes->max < 0 || (sizes->max > 0 && sizes->min > sizes->max))
        return refuse(report, pc, "the size rule's bounds %d to %d make no sense", sizes->min, sizes->max);
    if (sizes->kind == EPOP_SIZE_MULTIPLE && sizes->factor < 1)
        return refuse(report, pc, "the size rule wants multiples of %d; the factor must be 1 or more", sizes->factor);
    if (sizes->kind == EPOP_SIZE_FUNCTION && !sizes->accepts)
        return refuse(report, pc, "the size rule is a function, but its accepts is NULL");
    if (sizes->max > 0 && epop_sizes_round_down(sizes, sizes->max) == 0)
        return refuse(report, pc, "the size rule accepts no size from %d to %d", sizes->min > 0 ? sizes->min : 1,
                      sizes->max);
    if (report->program->abi_version >= 4 && (unsigned)sizes->scaling > EPOP_SCALING_WEAK_WORK)
        return refuse(report, pc, "the size rule has the unknown scaling %d", (int)sizes->scaling);
    if (sizes->preferred != 0 && !epop_sizes_accept(sizes, sizes->preferred))
        return refuse(report, pc, "the preferred size %d is none that the size rule accepts", sizes->preferred);
    return EPOP_OK;
}

static int check_blocks(const struct report *report, int pc)
{
    const epop_element_t *element = &report->program->elements[pc];
    switch (element->type) {
    case EPOP_INIT:
        if (!element->init && !(pc == 0 && epop__program_init(report->program)))
            return refuse(report, pc, "the init block is missing");
        return EPOP_OK;
    case EPOP_EP:
        if (!element->phase_exec)
            return refuse(report, pc, "the phase_exec block is missing");
        if (!element->phase_adapt)
            return refuse(report, pc, "the phase_adapt block is missing; a phase that cannot adapt is an RP");
        if (!element->loop_condition)
            return refuse(report, pc, "the loop_condition block is missing; a phase that does not iterate is an RP");
        if (element->phase_adapt == epop_adapt_described && !epop__program_blocks(report->program).describe)
            return refuse(report, pc,
                          "its phase_adapt block is epop_adapt_described, but the program has no describe block; "
                          "epop_describe sets it");
        return EPOP_OK;
    case EPOP_RP:
        if (!element->phase_exec)
            return refuse(report, pc, "the phase_exec block is missing");
        return EPOP_OK;
    case EPOP_BRANCH:
        if (!element->branch_condition)
            return refuse(report, pc, "the branch_condition block is missing");
        return EPOP_OK;
    }
    return refuse(report, pc, "unknown element type %d; it must be EPOP_INIT, EPOP_EP, EPOP_RP or EPOP_BRANCH",
                  (int)element->type);
}

static int check_element(const struct report *report, int pc)
{
    const epop_element_t *element = &report->program->elements[pc];
    int result = check_blocks(report, pc);
    if (result == EPOP_OK && pc == 0 && element->type != EPOP_INIT)
        result = refuse(report, pc, "the first element must be the INIT");
    if (result == EPOP_OK && pc > 0 && element->type == EPOP_INIT)
        result = refuse(report, pc, "an INIT that is not the first element; a program has exactly one, at pc 0");
    if (result == EPOP_OK && element->sizes)
        result = check_sizes(report, pc, element->sizes);
    return result;
}

int epop_program_validate(const epop_program_t *program, char *error, int error_size)
{
    struct report report = {program, error, error_size};
    if (!program)
        return refuse(&report, -1, "it is NULL");
    if (epop__program_incomplete(program))
        return refuse(&report, -1, "an element could not be added: out of memory");
    if (program->size < 1 || !program->elements)
        return refuse(&report, -1, "it has no elements; it needs at least an INIT");
    for (int pc = 0; pc < program->size; pc++) {
        int result = check_element(&report, pc);
        if (result != EPOP_OK)
            return result;
    }
    if (check_sizes(&report, -1, &program->sizes) != EPOP_OK)
        return EPOP_ERR_ARGUMENT;
    if (program->finalizer < -1 || program->finalizer >= program->size)
        return refuse(&report, -1, "the finalizer %d is no pc of the program", program->finalizer);
    if (program->finalizer > 0 && program->elements[program->finalizer].type != EPOP_RP)
        return refuse(&report, program->finalizer, "it is named as the finalizer, but only an RP can be one");
    return EPOP_OK;
}
