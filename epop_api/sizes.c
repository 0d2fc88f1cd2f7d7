/* World-size rules: which numbers of processes a program or a phase accepts. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

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

/* Of a function that accepts a few sizes these: "2, 4 and 8". False: of another rule, or too many. */
static bool list_text(const epop_sizes_t *sizes, char *text, size_t text_size)
{
    enum { LOOKED_AT = 1024, LISTED = 8 };
    int list[LISTED], count = 0;
    size_t used = 0;
    if (sizes->kind != EPOP_SIZE_FUNCTION || sizes->max < 1 || sizes->max > LOOKED_AT)
        return false;
    for (int size = 1; size <= sizes->max; size++)
        if (epop_sizes_accept(sizes, size)) {
            if (count == LISTED)
                return false;
            list[count++] = size;
        }
    for (int i = 0; i < count && used < text_size; i++)
        used += (size_t)snprintf(text + used, text_size - used, "%s%d",
                                 i == 0           ? ""
                                 : i == count - 1 ? " and "
                                                  : ", ",
                                 list[i]);
    return count > 0;
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
    if (!list_text(sizes, text, (size_t)text_size))
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

epop_scaling epop_scaling_at(const epop_program_t *program, int pc)
{
    return program && program->abi_version >= 4 ? epop_sizes_at(program, pc)->scaling : EPOP_SCALING_STRONG;
}

const char *epop_scaling_name(epop_scaling scaling)
{
    static const char *const names[] = {"strong", "weak", "weak-work"};
    return (unsigned)scaling < sizeof names / sizeof *names ? names[scaling] : "unknown";
}

/* ---- Rules as text ------------------------------------------------------------------------------ */

enum { NUMBER_MAX = 1000000 };

/* Digits, and nothing else; 0: it is no number from 1 on. */
static int read_number(const char *text, size_t length)
{
    int number = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || number > NUMBER_MAX / 10)
            return 0;
        number = 10 * number + text[i] - '0';
    }
    return number <= NUMBER_MAX ? number : 0;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && !memcmp(text, word, length);
}

/* What follows the word that it begins with, or 0. */
static int number_behind(const char *text, size_t length, const char *word)
{
    size_t begin = strlen(word);
    return length > begin && !memcmp(text, word, begin) ? read_number(text + begin, length - begin) : 0;
}

static bool read_kind(struct sizes_rule *rule, const char *text, size_t length)
{
    static const char *const words[] = {[EPOP_SIZE_POWER_OF_TWO] = "power-of-two",
                                        [EPOP_SIZE_SQUARE] = "square",
                                        [EPOP_SIZE_EVEN] = "even",
                                        [EPOP_SIZE_ODD] = "odd"};
    bool first = rule->sizes.kind == EPOP_SIZE_ANY;
    rule->sizes.factor = number_behind(text, length, "multiple:");
    if (rule->sizes.factor)
        rule->sizes.kind = EPOP_SIZE_MULTIPLE;
    for (int kind = EPOP_SIZE_POWER_OF_TWO; kind <= EPOP_SIZE_ODD; kind++)
        if (is_word(text, length, words[kind]))
            rule->sizes.kind = (epop_size_kind)kind;
    return first && (rule->sizes.kind != EPOP_SIZE_ANY || is_word(text, length, "any"));
}

static bool read_scaling(struct sizes_rule *rule, const char *text, size_t length)
{
    bool first = rule->sizes.scaling == EPOP_SCALING_STRONG;
    for (int scaling = EPOP_SCALING_WEAK; scaling <= EPOP_SCALING_WEAK_WORK; scaling++)
        if (is_word(text, length, epop_scaling_name((epop_scaling)scaling)))
            rule->sizes.scaling = (epop_scaling)scaling;
    return first && rule->sizes.scaling != EPOP_SCALING_STRONG;
}

static bool read_range(struct sizes_rule *rule, const char *text, size_t length)
{
    const char *dash = memchr(text, '-', length);
    size_t first = dash ? (size_t)(dash - text) : length;
    struct sizes_range range = {.least = read_number(text, first)};
    range.most = !dash ? range.least : first + 1 == length ? INT_MAX : read_number(dash + 1, length - first - 1);
    if (range.least < 1 || range.most < range.least || rule->count == SIZES_RANGES_MAX)
        return false;
    rule->ranges[rule->count++] = range;
    return true;
}

static bool read_item(struct sizes_rule *rule, const char *text, size_t length)
{
    int preferred = number_behind(text, length, "preferred=");
    if (preferred)
        rule->sizes.preferred = preferred;
    if (length && text[0] >= '0' && text[0] <= '9')
        return read_range(rule, text, length);
    if (length && text[0] == 'w')
        return read_scaling(rule, text, length);
    return preferred || read_kind(rule, text, length);
}

static void set_bounds(struct sizes_rule *rule)
{
    int least = INT_MAX, most = 0;
    for (int i = 0; i < rule->count; i++) {
        least = rule->ranges[i].least < least ? rule->ranges[i].least : least;
        most = rule->ranges[i].most > most ? rule->ranges[i].most : most;
    }
    rule->sizes.min = rule->count ? least : 0;
    rule->sizes.max = most == INT_MAX ? 0 : most;
}

bool sizes_rule_accepts(const struct sizes_rule *rule, int size)
{
    bool inside = rule->count == 0;
    for (int i = 0; i < rule->count && !inside; i++)
        inside = size >= rule->ranges[i].least && size <= rule->ranges[i].most;
    return inside && epop_sizes_accept(&rule->sizes, size);
}

/* Without an upper bound it does, as each kind has some above any size. */
static bool accepts_some(const struct sizes_rule *rule)
{
    for (int size = rule->sizes.min; rule->sizes.max && size <= rule->sizes.max; size++)
        if (sizes_rule_accepts(rule, size))
            return true;
    return !rule->sizes.max;
}

const char *sizes_rule_read(struct sizes_rule *rule, const char *text)
{
    *rule = (struct sizes_rule){.sizes = {.kind = EPOP_SIZE_ANY}};
    for (const char *at = text, *end;; at = end + 1) {
        end = at + strcspn(at, ",");
        if (!read_item(rule, at, (size_t)(end - at)))
            return "is no size rule: of any, even, odd, square, power-of-two or multiple:N one, numbers and ranges as "
                   "2,4,8 or 4-64, preferred=N, and weak or weak-work, separated by commas";
        if (!*end)
            break;
    }
    set_bounds(rule);
    if (!accepts_some(rule))
        return "accepts no number of ranks";
    if (rule->sizes.preferred && !sizes_rule_accepts(rule, rule->sizes.preferred))
        return "does not accept the number that it prefers";
    return NULL;
}
