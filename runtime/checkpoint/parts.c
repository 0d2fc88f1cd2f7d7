/*
 * A rank's part of a dataset. Elements are written packed, in the order of their type map; so the members of a
 * structure are told only if they rise in memory, where an array of them may be written as it is. Parts go piece by
 * piece, so that what is summed up is still in the cache when it is written.
 */
#include "runtime/checkpoint/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/checkpoint/format.h"

/* ---- Types of elements -------------------------------------------------------------------------- */

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

/* ---- Types: members ----------------------------------------------------------------------------- */

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

static bool flatten_type(MPI_Datatype type, struct layout_type *layout);

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
    return flatten_type(type, &part) && part.fields > 0 && add_again(layout, &part, times);
}

static bool add_struct_members(struct layout_type *layout, const struct contents *contents)
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
        return add_struct_members(layout, contents);
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

static bool flatten_type(MPI_Datatype type, struct layout_type *layout)
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

/* ---- Types: words ------------------------------------------------------------------------------- */

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
    if (flatten_type(type, layout) && layout->fields > 0 && write_word(layout))
        return 0;
    layout->fields = 1;
    layout->field[0] = (struct layout_field){.class = LAYOUT_OPAQUE, .size = size, .count = 1};
    write_word(layout);
    return 0;
}

/* ---- Parts -------------------------------------------------------------------------------------- */

#define PIECE (1 << 20) /* bytes, at least one element */

bool part_of_slab(struct part *part, const struct slab *slab)
{
    *part = (struct part){.first = slab->first, .count = slab->count, .data = slab->data};
    if (redist_element_of(slab->type, &part->element) || part->element.size <= 0)
        return false;
    return part->element.dense || part->element.size <= INT_MAX;
}

int64_t part_bytes(const struct part *part)
{
    return part->count * part->element.size;
}

int64_t part_place(const struct part *part)
{
    return part->offset + part->first * part->element.size;
}

/* ---- Parts: bytes ------------------------------------------------------------------------------- */

int part_write_bytes(int fd, const char *bytes, int64_t count, int64_t offset)
{
    while (count > 0) {
        ssize_t written = pwrite(fd, bytes, count < INT_MAX ? (size_t)count : INT_MAX, offset);
        if (written < 0 && errno != EINTR)
            return errno;
        written = written < 0 ? 0 : written;
        bytes += written;
        count -= written;
        offset += written;
    }
    return 0;
}

static int read_all_bytes(int fd, char *bytes, int64_t count, int64_t offset)
{
    while (count > 0) {
        ssize_t got = pread(fd, bytes, count < INT_MAX ? (size_t)count : INT_MAX, offset);
        if (got == 0)
            return ENODATA;
        if (got < 0 && errno != EINTR)
            return errno;
        got = got < 0 ? 0 : got;
        bytes += got;
        count -= got;
        offset += got;
    }
    return 0;
}

/* ---- Parts: piece by piece ---------------------------------------------------------------------- */

static int64_t piece_elements(int64_t size)
{
    return size < PIECE ? PIECE / size : 1;
}

/* `bytes` bytes of the file's, from byte `at` of the part on. */
typedef int piece_fn(struct part *part, char *piece, int64_t at, int64_t bytes, void *context);

/* Between elements with gaps and `packed`. Counts are int, as pieces are small. */
static int pack_elements(struct part *part, int64_t first, int64_t count, char *packed)
{
    int position = 0;
    char *from = part->data + first * part->element.extent;
    return MPI_Pack(from, (int)count, part->element.type, packed, (int)(count * part->element.size), &position,
                    MPI_COMM_SELF) == MPI_SUCCESS
               ? 0
               : EIO;
}

static int unpack_elements(struct part *part, int64_t first, int64_t count, char *packed)
{
    int position = 0;
    char *to = part->data + first * part->element.extent;
    return MPI_Unpack(packed, (int)(count * part->element.size), &position, to, (int)count, part->element.type,
                      MPI_COMM_SELF) == MPI_SUCCESS
               ? 0
               : EIO;
}

/* before and after: pack or unpack, for elements with gaps. */
static int each_piece(struct part *part, piece_fn *take, void *context,
                      int (*before)(struct part *, int64_t, int64_t, char *),
                      int (*after)(struct part *, int64_t, int64_t, char *))
{
    int64_t size = part->element.size, most = piece_elements(size);
    char *packed = part->element.dense || !part->count ? NULL : malloc((size_t)(most * size));
    int failed = part->element.dense || !part->count || packed ? 0 : ENOMEM;
    for (int64_t at = 0; !failed && at < part->count; at += most) {
        int64_t now = part->count - at < most ? part->count - at : most;
        char *piece = packed ? packed : part->data + at * size;
        failed = packed && before ? before(part, at, now, packed) : 0;
        failed = failed ? failed : take(part, piece, at * size, now * size, context);
        failed = failed || !packed || !after ? failed : after(part, at, now, packed);
    }
    free(packed);
    return failed;
}

static void sum_up(struct part *part, const char *piece, int64_t at, int64_t bytes)
{
    int64_t size = part->element.size;
    part->sum += checksum_part(size, part->first * size + at, piece, (size_t)bytes);
}

/* The disk begins with it now, and not when all is there and waited for. That it cannot is no failure. */
static int write_piece(struct part *part, char *piece, int64_t at, int64_t bytes, void *context)
{
    int fd = *(int *)context;
    sum_up(part, piece, at, bytes);
    int failed = part_write_bytes(fd, piece, bytes, part_place(part) + at);
    if (!failed)
        sync_file_range(fd, part_place(part) + at, bytes, SYNC_FILE_RANGE_WRITE);
    return failed;
}

static int copy_piece(struct part *part, char *piece, int64_t at, int64_t bytes, void *context)
{
    sum_up(part, piece, at, bytes);
    memcpy((char *)context + at, piece, (size_t)bytes);
    return 0;
}

static int read_piece(struct part *part, char *piece, int64_t at, int64_t bytes, void *context)
{
    int failed = read_all_bytes(*(int *)context, piece, bytes, part_place(part) + at);
    if (!failed)
        sum_up(part, piece, at, bytes);
    return failed;
}

int part_write(struct part *part, int fd)
{
    return each_piece(part, write_piece, &fd, pack_elements, NULL);
}

int part_copy(struct part *part, char *to)
{
    return each_piece(part, copy_piece, to, pack_elements, NULL);
}

int part_read(struct part *part, int fd)
{
    return each_piece(part, read_piece, &fd, NULL, unpack_elements);
}

int part_check(int fd, int64_t offset, int64_t size, int64_t first, int64_t count, uint64_t *sum)
{
    int64_t most = piece_elements(size);
    char *piece = malloc((size_t)(most * size));
    int failed = piece ? 0 : ENOMEM;
    for (int64_t at = first; !failed && at < first + count; at += most) {
        int64_t now = first + count - at < most ? first + count - at : most;
        failed = read_all_bytes(fd, piece, now * size, offset + at * size);
        *sum += failed ? 0 : checksum_part(size, at * size, piece, (size_t)(now * size));
    }
    free(piece);
    return failed;
}
