/* World-size rules: which numbers of processes a program or a phase accepts. */
#include <limits.h>
#include <stdio.h>

#include <epop/program.h>

#include "epop_api/sizes.h"

static int integer_root(int n)
{
    int64_t root = 0;
    for (int64_t bit = 1 << 15; bit > 0; bit >>= 1) {
        if ((root + bit) * (root + bit) <= n)
            root += bit;
    }
    return (int)root;
}

/* The largest power of two <= n, for n >= 1. */
static int power_below(int n)
{
    int power = 1;
    while (power <= n / 2)
        power *= 2;
    return power;
}

/* The largest size <= n (n >= 1) that the kind allows, min and max aside; 0 if there is none. */
static int kind_round_down(const epop_sizes_t *sizes, int n)
{
    switch (sizes->kind) {
    case EPOP_SIZE_ANY:
        return n;
    case EPOP_SIZE_MULTIPLE:
        return sizes->factor >= 1 ? n - n % sizes->factor : 0;
    case EPOP_SIZE_POWER_OF_TWO:
        return power_below(n);
    case EPOP_SIZE_SQUARE:
        return integer_root(n) * integer_root(n);
    case EPOP_SIZE_EVEN:
        return n - n % 2;
    case EPOP_SIZE_ODD:
        return n - (n % 2 == 0);
    case EPOP_SIZE_FUNCTION:
        break;
    }
    if (sizes->kind != EPOP_SIZE_FUNCTION || !sizes->accepts)
        return 0;
    while (n > 0 && n >= sizes->min && !sizes->accepts(n))
        n--;
    return n;
}

int epop_sizes_round_down(const epop_sizes_t *sizes, int size)
{
    if (size < 1)
        return 0;
    if (!sizes)
        return size;
    if (sizes->max > 0 && size > sizes->max)
        size = sizes->max;
    size = kind_round_down(sizes, size);
    return size >= 1 && size >= sizes->min ? size : 0;
}

int epop_sizes_accept(const epop_sizes_t *sizes, int size)
{
    if (size < 1)
        return 0;
    if (!sizes)
        return 1;
    if (size < sizes->min || (sizes->max > 0 && size > sizes->max))
        return 0;
    if (sizes->kind == EPOP_SIZE_FUNCTION)
        return sizes->accepts && sizes->accepts(size);
    return kind_round_down(sizes, size) == size;
}

static const char *kind_text(epop_size_kind kind)
{
    static const char *const texts[] = {"any size",
                                        "multiples",
                                        "powers of two",
                                        "squares",
                                        "even sizes",
                                        "odd sizes",
                                        "sizes chosen by the program's own function"};
    return (unsigned)kind < sizeof texts / sizeof *texts ? texts[kind] : "an unknown rule";
}

int epop_sizes_text(const epop_sizes_t *sizes, char *text, int text_size)
{
    static const epop_sizes_t any = {0};
    if (!sizes)
        sizes = &any;
    char factor[32] = "", bounds[64] = "";
    if (sizes->kind == EPOP_SIZE_MULTIPLE)
        snprintf(factor, sizeof factor, " of %d", sizes->factor);
    if (sizes->min > 0 && sizes->max > 0)
        snprintf(bounds, sizeof bounds, ", %d to %d", sizes->min, sizes->max);
    else if (sizes->min > 0)
        snprintf(bounds, sizeof bounds, ", at least %d", sizes->min);
    else if (sizes->max > 0)
        snprintf(bounds, sizeof bounds, ", at most %d", sizes->max);
    if (!text || text_size < 1)
        return EPOP_ERR_ARGUMENT;
    snprintf(text, (size_t)text_size, "%s%s%s", kind_text(sizes->kind), factor, bounds);
    return EPOP_OK;
}

const epop_sizes_t *epop_sizes_at(const epop_program_t *program, int pc)
{
    if (!program)
        return NULL;
    if (pc >= 0 && pc < program->size && program->elements && program->elements[pc].sizes)
        return program->elements[pc].sizes;
    return &program->sizes;
}

const char *size_kind_name(epop_size_kind kind)
{
    static const char *const names[] = {"any", "multiple", "power_of_two", "square", "even", "odd", "function"};
    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}
