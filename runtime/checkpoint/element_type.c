/*
 * Datatypes: see element_type.h. Elements are written packed, in the order of their type map; so the members of a
 * structure are told only if they rise in memory, where an array of them may be written as it is.
 */
#include "runtime/checkpoint/element_type.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_one_of(MPI_Datatype type, const MPI_Datatype *types)
{
    while (*types != MPI_DATATYPE_NULL && *types != type)
        types++;
    return *types != MPI_DATATYPE_NULL;
}

static enum layout_class class_of(MPI_Datatype type)
{
    static const MPI_Datatype integers[] = {
        MPI_CHAR,    MPI_SIGNED_CHAR, MPI_SHORT,    MPI_INT,      MPI_LONG,     MPI_LONG_LONG, MPI_INT8_T,
        MPI_INT16_T, MPI_INT32_T,     MPI_INT64_T,  MPI_AINT,     MPI_OFFSET,   MPI_COUNT,     MPI_WCHAR,
        MPI_INTEGER, MPI_LOGICAL,     MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8,  MPI_DATATYPE_NULL};
    static const MPI_Datatype naturals[] = {MPI_BYTE,         MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT,
                                            MPI_UNSIGNED,     MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG,
                                            MPI_UINT8_T,      MPI_UINT16_T,      MPI_UINT32_T,
                                            MPI_UINT64_T,     MPI_C_BOOL,        MPI_CHARACTER,
                                            MPI_DATATYPE_NULL};
    static const MPI_Datatype reals[] = {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE,  MPI_REAL, MPI_DOUBLE_PRECISION,
                                         MPI_REAL4, MPI_REAL8,  MPI_DATATYPE_NULL};
    static const MPI_Datatype complexes[] = {MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
                                             MPI_COMPLEX,   MPI_DOUBLE_COMPLEX,  MPI_COMPLEX8,
                                             MPI_COMPLEX16, MPI_DATATYPE_NULL};
    if (is_one_of(type, integers))
        return LAYOUT_INTEGER;
    if (is_one_of(type, naturals))
        return LAYOUT_UNSIGNED;
    if (is_one_of(type, reals))
        return LAYOUT_FLOAT;
    return is_one_of(type, complexes) ? LAYOUT_COMPLEX : LAYOUT_OPAQUE;
}

/* ---- Members --------------------------------------------------------------- */

static bool add_field(struct layout_type *layout, struct layout_field field)
{
    struct layout_field *last = layout->fields ? &layout->field[layout->fields - 1] : NULL;
    if (last && last->class == field.class && last->size == field.size && field.class != LAYOUT_OPAQUE) {
        last->count += field.count;
        return true;
    }
    if (layout->fields == LAYOUT_FIELDS)
        return false;
    layout->field[layout->fields++] = field;
    return true;
}

/* `times` of the members from number `from` on. */
static bool add_again(struct layout_type *layout, const struct layout_type *part, int64_t times)
{
    struct layout_field one = part->field[0];
    one.count *= times;
    if (times == 0)
        return true;
    if (part->fields == 1)
        return add_field(layout, one);
    bool fits = true;
    for (int64_t i = 0; fits && i < times; i++)
        for (int j = 0; fits && j < part->fields; j++)
            fits = add_field(layout, part->field[j]);
    return fits;
}

static bool flatten(MPI_Datatype type, struct layout_type *layout);

/* What MPI_Type_get_contents gives. */
struct contents {
    int combiner, integers, addresses, types;
    int *integer;
    MPI_Aint *address;
    MPI_Datatype *type;
};

static bool add_type(struct layout_type *layout, MPI_Datatype type, int64_t times)
{
    struct layout_type part = {.fields = 0};
    return flatten(type, &part) && part.fields > 0 && add_again(layout, &part, times);
}

static bool add_members(struct layout_type *layout, const struct contents *contents)
{
    bool fits = true;
    for (int i = 0; fits && i < contents->types; i++) {
        bool rises = i == 0 || contents->address[i] > contents->address[i - 1];
        fits = rises && add_type(layout, contents->type[i], contents->integer[1 + i]);
    }
    return fits;
}

static bool add_contents(struct layout_type *layout, const struct contents *contents)
{
    switch (contents->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return add_type(layout, contents->type[0], 1);
    case MPI_COMBINER_CONTIGUOUS:
        return add_type(layout, contents->type[0], contents->integer[0]);
    case MPI_COMBINER_STRUCT:
        return add_members(layout, contents);
    default:
        return false;
    }
}

static void free_types(const struct contents *contents)
{
    int integers, addresses, types, combiner;
    for (int i = 0; i < contents->types; i++) {
        MPI_Type_get_envelope(contents->type[i], &integers, &addresses, &types, &combiner);
        if (combiner != MPI_COMBINER_NAMED)
            MPI_Type_free(&contents->type[i]);
    }
}

static bool take_apart(MPI_Datatype type, struct contents *contents, struct layout_type *layout)
{
    contents->integer = calloc((size_t)contents->integers + 1, sizeof *contents->integer);
    contents->address = calloc((size_t)contents->addresses + 1, sizeof *contents->address);
    contents->type = calloc((size_t)contents->types + 1, sizeof *contents->type);
    bool told = contents->integer && contents->address && contents->type &&
                MPI_Type_get_contents(type, contents->integers, contents->addresses, contents->types, contents->integer,
                                      contents->address, contents->type) == MPI_SUCCESS;
    bool fits = told && add_contents(layout, contents);
    if (told)
        free_types(contents);
    free(contents->integer);
    free(contents->address);
    free(contents->type);
    return fits;
}

static bool flatten(MPI_Datatype type, struct layout_type *layout)
{
    MPI_Count size;
    struct contents contents = {.combiner = MPI_COMBINER_NAMED};
    if (MPI_Type_size_x(type, &size) != MPI_SUCCESS || size <= 0 ||
        MPI_Type_get_envelope(type, &contents.integers, &contents.addresses, &contents.types, &contents.combiner) !=
            MPI_SUCCESS)
        return false;
    if (contents.combiner != MPI_COMBINER_NAMED)
        return take_apart(type, &contents, layout);
    return add_field(layout, (struct layout_field){.class = class_of(type), .size = size, .count = 1});
}

/* ---- Words ----------------------------------------------------------------- */

static int write_field(const struct layout_field *field, char *text, size_t room)
{
    static const char *const names[] = {"int", "uint", "float", "complex", "opaque"};
    long long unit = field->class == LAYOUT_OPAQUE ? 1 : 8;
    int length = snprintf(text, room, "%s%lld", names[field->class], (long long)field->size * unit);
    if (field->count > 1 && (size_t)length < room)
        length += snprintf(text + length, room - (size_t)length, "[%lld]", (long long)field->count);
    return length;
}

static bool write_word(struct layout_type *layout)
{
    size_t at = 0, room = sizeof layout->word;
    for (int i = 0; i < layout->fields && at < room; i++) {
        at += (size_t)snprintf(layout->word + at, room - at, "%s", i ? "," : "");
        if (at < room)
            at += (size_t)write_field(&layout->field[i], layout->word + at, room - at);
    }
    return at < room;
}

int element_type_of(MPI_Datatype type, struct layout_type *layout)
{
    MPI_Count size;
    memset(layout, 0, sizeof *layout);
    if (type == MPI_DATATYPE_NULL || MPI_Type_size_x(type, &size) != MPI_SUCCESS || size <= 0)
        return -1;
    layout->size = size;
    if (flatten(type, layout) && layout->fields > 0 && write_word(layout))
        return 0;
    layout->fields = 1;
    layout->field[0] = (struct layout_field){.class = LAYOUT_OPAQUE, .size = size, .count = 1};
    write_word(layout);
    return 0;
}
