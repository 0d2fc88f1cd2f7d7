/* Reads what a program calls the members of its values, and the arrays of its sparse rows. */
#include "runtime/describe/members.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_WORDS 64 /* bytes: the longest is "unsigned long long int" */

/* ---- Types -------------------------------------------------------------------------------------- */

struct c_type {
    const char *word;
    enum member_class class;
    size_t size, align;
};

#define ROW(type, word, class)                                                                                         \
    {                                                                                                                  \
        word, class, sizeof(type), _Alignof(type)                                                                      \
    }
#define SIGNED(type)   ROW(type, #type, MEMBER_SIGNED)
#define UNSIGNED(type) ROW(type, #type, MEMBER_UNSIGNED)

static const struct c_type types[] = {
    SIGNED(int),
    SIGNED(long),
    SIGNED(long long),
    SIGNED(short),
    ROW(char, "char", (char)-1 < 0 ? MEMBER_SIGNED : MEMBER_UNSIGNED),
    SIGNED(signed char),
    SIGNED(int8_t),
    SIGNED(int16_t),
    SIGNED(int32_t),
    SIGNED(int64_t),
    UNSIGNED(unsigned),
    UNSIGNED(unsigned int),
    UNSIGNED(unsigned long),
    UNSIGNED(unsigned long long),
    UNSIGNED(unsigned short),
    UNSIGNED(unsigned char),
    UNSIGNED(uint8_t),
    UNSIGNED(uint16_t),
    UNSIGNED(uint32_t),
    UNSIGNED(uint64_t),
    UNSIGNED(size_t),
    ROW(bool, "bool", MEMBER_UNSIGNED),
    ROW(bool, "_Bool", MEMBER_UNSIGNED),
    ROW(float, "float", MEMBER_FLOAT),
    ROW(double, "double", MEMBER_FLOAT),
    ROW(long double, "long double", MEMBER_FLOAT),
};

static const struct c_type *type_of(const char *word)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].word, word))
            return &types[i];
    return NULL;
}

/* ---- The text ----------------------------------------------------------------------------------- */

static void skip_space(const char **at)
{
    while (isspace((unsigned char)**at))
        ++*at;
}

/* One word of letters, digits and underscores. 0: there is none here. */
static size_t word_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        length++;
    return length;
}

static int fault(struct error *error, const char *what, const char *at)
{
    return *at ? error_set(error, ERROR_REFUSED, "%s at '%.30s'", what, at)
               : error_set(error, ERROR_REFUSED, "%s at its end", what);
}

/* The words before the first declarator's name, with one space between them. */
static int read_type(const char **at, const struct c_type **type, struct error *error)
{
    char words[TYPE_WORDS] = "";
    size_t used = 0, length;
    const char *begin = *at;
    for (;;) {
        skip_space(at);
        length = word_length(*at);
        const char *next = *at + length;
        skip_space(&next);
        if (!length || !word_length(next) || used + length + 2 > sizeof words)
            break; /* the last word is the name */
        if (used)
            words[used++] = ' ';
        memcpy(words + used, *at, length);
        words[used += length] = 0;
        *at = next;
    }
    *type = type_of(words);
    return *type ? 0 : fault(error, used ? "no type of C's numbers" : "no type and name", begin);
}

static int read_count(const char **at, size_t *count, struct error *error)
{
    const char *begin = *at;
    *count = 1;
    while (**at == '[') {
        char *end;
        unsigned long times = strtoul(++*at, &end, 10);
        if (!isdigit((unsigned char)**at) || *end != ']' || !times || times > INT32_MAX / *count)
            return fault(error, "no count in brackets", begin);
        *count *= times;
        *at = end + 1;
        skip_space(at);
    }
    return 0;
}

static bool is_there(const struct members *members, const char *name)
{
    for (int i = 0; i < members->count; i++)
        if (!strcmp(members->list[i].name, name))
            return true;
    return false;
}

static int read_name(const char **at, const struct members *members, char name[MEMBER_NAME], struct error *error)
{
    skip_space(at);
    const char *begin = *at;
    size_t length = word_length(*at);
    if (!length || isdigit((unsigned char)*begin))
        return fault(error, "no name", begin);
    if (length >= MEMBER_NAME)
        return fault(error, "a name of more than 63 letters", begin);
    memcpy(name, *at, length);
    name[length] = 0;
    *at += length;
    skip_space(at);
    return is_there(members, name) ? fault(error, "a name that was there before", begin) : 0;
}

/* ---- Lists -------------------------------------------------------------------------------------- */

static size_t round_up(size_t bytes, size_t align)
{
    return (bytes + align - 1) / align * align;
}

/* type: NULL: a name alone. */
static int read_member(const char **at, struct members *members, const struct c_type *type, struct error *error)
{
    struct value_member member = {.count = 1};
    if (read_name(at, members, member.name, error) || (type && read_count(at, &member.count, error)))
        return -1;
    if (type) {
        member.class = type->class;
        member.size = type->size;
        member.offset = round_up(members->bytes, type->align);
        members->bytes = member.offset + member.size * member.count;
    }
    struct value_member *grown = realloc(members->list, ((size_t)members->count + 1) * sizeof *grown);
    if (!grown)
        return error_memory(error);
    members->list = grown;
    members->list[members->count++] = member;
    return 0;
}

/* Up to what ends it. */
static int read_list(const char **at, struct members *members, const struct c_type *type, struct error *error)
{
    for (;;) {
        if (read_member(at, members, type, error))
            return -1;
        if (**at != ',')
            return 0;
        ++*at;
    }
}

static int end_of(int result, const char *at, struct members *members, struct error *error)
{
    if (!result && *at)
        result = fault(error, "something else", at);
    if (result)
        members_free(members);
    return result;
}

static int read_declaration(const char **at, struct members *members, size_t *align, struct error *error)
{
    const struct c_type *type;
    if (read_type(at, &type, error) || read_list(at, members, type, error))
        return -1;
    if (*align < type->align)
        *align = type->align;
    if (**at == ';')
        ++*at;
    else if (**at)
        return fault(error, "something else", *at);
    skip_space(at);
    return 0;
}

int members_declared(const char *text, struct members *members, struct error *error)
{
    size_t align = 1;
    int result;
    *members = (struct members){.list = NULL};
    do
        result = read_declaration(&text, members, &align, error);
    while (!result && *text);
    members->bytes = round_up(members->bytes, align);
    return end_of(result, "", members, error);
}

int members_named(const char *text, struct members *members, struct error *error)
{
    *members = (struct members){.list = NULL};
    int result = read_list(&text, members, NULL, error);
    return end_of(result, text, members, error);
}

void members_free(struct members *members)
{
    free(members->list);
    *members = (struct members){.list = NULL};
}
