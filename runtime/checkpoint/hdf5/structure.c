/* What is in the file of a checkpoint, in terms of HDF5. */
#include "runtime/checkpoint/hdf5/structure.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/checkpoint/format.h"

/* ---- Errors ------------------------------------------------------------------------------------- */

struct errors_before errors_hold(void)
{
    struct errors_before before;
    H5Eget_auto2(H5E_DEFAULT, &before.print, &before.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return before;
}

void errors_restore(const struct errors_before *before)
{
    H5Eset_auto2(H5E_DEFAULT, before->print, before->data);
}

/* Where the operating system has a word for it, that word: "error message = 'No space left on device', ...". */
static herr_t keep_first_reason(unsigned place, const H5E_error2_t *entry, void *data)
{
    static const char said[] = "error message = '";
    char *why = data;
    const char *begin = strstr(entry->desc, said);
    if (place > 0)
        return 0;
    begin = begin ? begin + strlen(said) : entry->desc;
    snprintf(why, 200, "%.*s", (int)strcspn(begin, "'\n"), begin);
    return 0;
}

int errors_tell(struct error *error, const char *what)
{
    char why[200] = "no reason given";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first_reason, why);
    return error_set(error, ERROR_FAILED, "%s: %s", what, why);
}

/* ---- Types of elements -------------------------------------------------------------------------- */

/* Numbers are written as this machine has them, and say so: others convert. */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN(type) type##LE
#else
#define OWN(type) type##BE
#endif

static hid_t integer_type(int64_t size)
{
    switch (size) {
    case 1:
        return H5Tcopy(OWN(H5T_STD_I8));
    case 2:
        return H5Tcopy(OWN(H5T_STD_I16));
    case 4:
        return H5Tcopy(OWN(H5T_STD_I32));
    default:
        return H5Tcopy(OWN(H5T_STD_I64));
    }
}

static hid_t unsigned_type(int64_t size)
{
    switch (size) {
    case 1:
        return H5Tcopy(OWN(H5T_STD_U8));
    case 2:
        return H5Tcopy(OWN(H5T_STD_U16));
    case 4:
        return H5Tcopy(OWN(H5T_STD_U32));
    default:
        return H5Tcopy(OWN(H5T_STD_U64));
    }
}

/* Longer ones are the machine's own. */
static hid_t real_type(int64_t size)
{
    if (size == 4)
        return H5Tcopy(OWN(H5T_IEEE_F32));
    return size == 8 ? H5Tcopy(OWN(H5T_IEEE_F64)) : H5Tcopy(H5T_NATIVE_LDOUBLE);
}

/* As h5py has it. */
static hid_t complex_type(int64_t size)
{
    hid_t part = real_type(size / 2), whole = H5Tcreate(H5T_COMPOUND, (size_t)size);
    H5Tinsert(whole, "r", 0, part);
    H5Tinsert(whole, "i", (size_t)size / 2, part);
    H5Tclose(part);
    return whole;
}

/* Of text, ended by a zero. */
static hid_t types_text(size_t bytes)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, bytes);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static hid_t number_type(const struct layout_field *field)
{
    switch (field->class) {
    case LAYOUT_INTEGER:
        return integer_type(field->size);
    case LAYOUT_UNSIGNED:
        return unsigned_type(field->size);
    case LAYOUT_FLOAT:
        return real_type(field->size);
    case LAYOUT_COMPLEX:
        return complex_type(field->size);
    default:
        return H5Tcreate(H5T_OPAQUE, (size_t)field->size); /* h5py reads those without a tag */
    }
}

static hid_t field_type(const struct layout_field *field)
{
    hid_t one = number_type(field);
    if (field->count == 1)
        return one;
    hsize_t count = (hsize_t)field->count;
    hid_t all = H5Tarray_create2(one, 1, &count);
    H5Tclose(one);
    return all;
}

static hid_t structure_type(const struct layout_type *type)
{
    hid_t made = H5Tcreate(H5T_COMPOUND, (size_t)type->size);
    int64_t at = 0;
    for (int i = 0; i < type->fields; i++) {
        char name[16];
        hid_t member = field_type(&type->field[i]);
        snprintf(name, sizeof name, "f%d", i);
        H5Tinsert(made, name, (size_t)at, member);
        H5Tclose(member);
        at += type->field[i].size * type->field[i].count;
    }
    return made;
}

hid_t types_make(const struct layout_type *type)
{
    return type->fields == 1 ? field_type(&type->field[0]) : structure_type(type);
}

/* ---- Attributes --------------------------------------------------------------------------------- */

int attributes_put(hid_t object, const char *name, hid_t type, hsize_t count, const void *value)
{
    hid_t space = count ? H5Screate_simple(1, &count, NULL) : H5Screate(H5S_SCALAR);
    hid_t made = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    int result = made < 0 || H5Awrite(made, type, value) < 0 ? -1 : 0;
    if (made >= 0)
        H5Aclose(made);
    H5Sclose(space);
    return result;
}

int attributes_put_text(hid_t object, const char *name, const char *text)
{
    hid_t type = types_text(strlen(text) + 1);
    int result = attributes_put(object, name, type, 0, text);
    H5Tclose(type);
    return result;
}

static int attributes_put_number(hid_t object, const char *name, int64_t number)
{
    return attributes_put(object, name, H5T_NATIVE_INT64, 0, &number);
}

static int read_one_value(hid_t attribute, hid_t type, void *value)
{
    hid_t space = H5Aget_space(attribute);
    bool one = H5Sget_simple_extent_npoints(space) == 1;
    H5Sclose(space);
    return one && H5Aread(attribute, type, value) >= 0 ? 0 : -1;
}

int attributes_get(hid_t object, const char *name, hid_t type, void *value)
{
    hid_t found = H5Aopen(object, name, H5P_DEFAULT);
    if (found < 0)
        return -1;
    int result = read_one_value(found, type, value);
    H5Aclose(found);
    return result;
}

/* HDF5 would make a whole number of any, and the nearest that there is of one that is too large. */
static bool is_whole(hid_t object, const char *name)
{
    hid_t found = H5Aopen(object, name, H5P_DEFAULT);
    hid_t type = found < 0 ? -1 : H5Aget_type(found);
    bool whole = type >= 0 && H5Tget_class(type) == H5T_INTEGER && H5Tget_size(type) <= sizeof(int64_t);
    if (type >= 0)
        H5Tclose(type);
    if (found >= 0)
        H5Aclose(found);
    return whole;
}

static int attributes_get_number(hid_t object, const char *name, int64_t *number)
{
    return is_whole(object, name) ? attributes_get(object, name, H5T_NATIVE_INT64, number) : -1;
}

/* One more byte, a zero. NULL: out of memory, or so many cannot be in the file. */
static char *attribute_room(hid_t attribute, size_t bytes)
{
    return bytes && bytes <= H5Aget_storage_size(attribute) ? calloc(1, bytes + 1) : NULL;
}

static char *read_byte_values(hid_t attribute, size_t *count)
{
    hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    bool right = H5Tequal(type, H5T_STD_U8LE) > 0;
    *count = (size_t)H5Sget_simple_extent_npoints(space);
    char *bytes = right ? attribute_room(attribute, *count) : NULL;
    bool read = bytes && H5Aread(attribute, type, bytes) >= 0;
    H5Tclose(type);
    H5Sclose(space);
    if (read)
        return bytes;
    free(bytes);
    return NULL;
}

/* One of bytes: all of them, from malloc(). */
static int attributes_get_bytes(hid_t object, const char *name, char **bytes, size_t *count)
{
    hid_t found = H5Aopen(object, name, H5P_DEFAULT);
    *bytes = found < 0 ? NULL : read_byte_values(found, count);
    if (found >= 0)
        H5Aclose(found);
    return *bytes ? 0 : -1;
}

/* A string of variable length would come as a pointer to what has to be freed in another way. */
static char *read_string(hid_t attribute)
{
    hid_t type = H5Aget_type(attribute);
    bool right = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
    char *text = right ? attribute_room(attribute, H5Tget_size(type)) : NULL;
    bool read = text && !read_one_value(attribute, type, text);
    H5Tclose(type);
    if (read)
        return text;
    free(text);
    return NULL;
}

int attributes_get_text(hid_t object, const char *name, char **text)
{
    hid_t found = H5Aopen(object, name, H5P_DEFAULT);
    *text = found < 0 ? NULL : read_string(found);
    if (found >= 0)
        H5Aclose(found);
    return *text ? 0 : -1;
}

/* ---- Links -------------------------------------------------------------------------------------- */

hid_t linked_type(void)
{
    hid_t text = types_text(LAYOUT_NAME), type = H5Tcreate(H5T_COMPOUND, sizeof(struct linked));
    H5Tinsert(type, "name", HOFFSET(struct linked, name), text);
    H5Tinsert(type, "file", HOFFSET(struct linked, file), text);
    H5Tinsert(type, "checksum", HOFFSET(struct linked, checksum), H5T_NATIVE_UINT64);
    H5Tclose(text);
    return type;
}

/* ---- The head ----------------------------------------------------------------------------------- */

#define WORD_FORMAT "EPOP checkpoint"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTE_ORDER_WORD "little"
#else
#define BYTE_ORDER_WORD "big"
#endif

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* One of describe_values_pack's: a name, its end, a length, bytes. Behind it; NULL: none, or something else. */
static const char *take_value(const char *at, const char *end, uint64_t *length)
{
    const char *name_end = memchr(at, 0, (size_t)(end - at));
    if (!name_end || (size_t)(end - name_end) < 1 + sizeof *length)
        return NULL;
    memcpy(length, name_end + 1, sizeof *length);
    name_end += 1 + sizeof *length;
    return *length <= (uint64_t)(end - name_end) ? name_end + *length : NULL;
}

static hid_t member_number_type(const struct value_member *member)
{
    switch (member->class) {
    case MEMBER_FLOAT:
        return real_type((int64_t)member->size);
    case MEMBER_UNSIGNED:
        return unsigned_type((int64_t)member->size);
    default:
        return integer_type((int64_t)member->size);
    }
}

/* As C has it, with its gaps. */
static hid_t members_type(const struct members *members)
{
    hid_t made = H5Tcreate(H5T_COMPOUND, members->bytes);
    for (int i = 0; i < members->count; i++) {
        const struct value_member *member = &members->list[i];
        hsize_t count = member->count;
        hid_t one = member_number_type(member), all = count == 1 ? H5Tcopy(one) : H5Tarray_create2(one, 1, &count);
        H5Tinsert(made, member->name, member->offset, all);
        H5Tclose(all);
        H5Tclose(one);
    }
    return made;
}

static const struct members *members_of(const struct checkpoint_head *head, const char *name)
{
    for (const struct head_members *m = head->members; m && m->name; m++)
        if (!strcmp(m->name, name))
            return m->members;
    return NULL;
}

/* Bytes, where nothing more is known. */
static int put_value(hid_t file, const char *name, const struct members *members, const char *value, uint64_t length)
{
    if (!members || members->bytes != length)
        return length ? attributes_put(file, name, H5T_STD_U8LE, length, value) : 0;
    hid_t type = members_type(members);
    int result = attributes_put(file, name, type, 0, value);
    H5Tclose(type);
    return result;
}

/* For other readers, each under its name; we read all of them at once. */
static int put_each_value(hid_t file, const struct checkpoint_head *head)
{
    const char *at = head->values, *end = at + head->value_bytes, *after;
    uint64_t length;
    int result = 0;
    for (; !result && at < end && (after = take_value(at, end, &length)); at = after) {
        char name[LAYOUT_NAME + sizeof "values/"];
        snprintf(name, sizeof name, "values/%s", at);
        result = put_value(file, name, members_of(head, at), after - length, length);
    }
    return result;
}

static int put_values(hid_t file, const struct checkpoint_head *head)
{
    uint64_t checksum = checksum_part(1, 0, head->values, head->value_bytes);
    if (!head->value_bytes)
        return 0;
    int result = attributes_put(file, "values", H5T_STD_U8LE, head->value_bytes, head->values);
    result |= attributes_put(file, "values_checksum", H5T_NATIVE_UINT64, 0, &checksum);
    return result | put_each_value(file, head);
}

int head_put(hid_t file, const struct checkpoint_head *head)
{
    return attributes_put_text(file, "kind", WORD_FORMAT) | attributes_put_number(file, "format", head->format) |
           attributes_put_text(file, "epop", EPOP_VERSION) | attributes_put_text(file, "byte_order", BYTE_ORDER_WORD) |
           attributes_put_text(file, "program", or_empty(head->program)) |
           attributes_put_text(file, "structure", or_empty(head->structure)) |
           attributes_put_text(file, "arguments", or_empty(head->arguments)) |
           attributes_put_number(file, "pc", head->at.pc) | attributes_put_number(file, "visit", head->at.visit) |
           attributes_put_number(file, "iteration", head->at.iteration) |
           attributes_put_number(file, "size", head->size) | attributes_put_number(file, "number", head->number) |
           attributes_put_number(file, "restarts", head->restarts) |
           attributes_put(file, "time", H5T_NATIVE_DOUBLE, 0, &head->time) | put_values(file, head);
}

/* Is it a file of ours, that this EPOP on this machine can read? */
static int check_is_ours(hid_t file, struct error *error)
{
    char *kind = NULL, *order = NULL;
    int64_t format = 0;
    int result = 0;
    if (attributes_get_text(file, "kind", &kind) || strcmp(kind, WORD_FORMAT))
        result = error_set(error, ERROR_REFUSED, "is an HDF5 file, but no checkpoint of EPOP");
    else if (attributes_get_number(file, "format", &format))
        result = error_set(error, ERROR_REFUSED, "is damaged: it does not say which format it has");
    else if (format != CHECKPOINT_FORMAT)
        result = error_set(error, ERROR_REFUSED, "has format %lld of checkpoints, this EPOP reads format %d",
                           (long long)format, CHECKPOINT_FORMAT);
    else if (attributes_get_text(file, "byte_order", &order) || strcmp(order, BYTE_ORDER_WORD))
        result = error_set(error, ERROR_REFUSED, "was written on a machine of the other byte order than this one's");
    free(kind);
    free(order);
    return result;
}

static int get_values(hid_t file, struct checkpoint_head *head)
{
    uint64_t checksum;
    if (H5Aexists(file, "values") == 0)
        return 0;
    if (attributes_get_bytes(file, "values", &head->values, &head->value_bytes) ||
        attributes_get(file, "values_checksum", H5T_NATIVE_UINT64, &checksum))
        return -1;
    return checksum == checksum_part(1, 0, head->values, head->value_bytes) ? 0 : -1;
}

/* What does not fit is out of range in any case. */
static int get_int_member(hid_t file, const char *name, int *number)
{
    int64_t wide = 0;
    int result = attributes_get_number(file, name, &wide);
    *number = wide == (int)wide ? (int)wide : -1;
    return result;
}

static int get_members(hid_t file, struct checkpoint_head *head)
{
    head->format = CHECKPOINT_FORMAT;
    return attributes_get_text(file, "program", &head->program) |
           attributes_get_text(file, "structure", &head->structure) |
           attributes_get_text(file, "arguments", &head->arguments) | get_int_member(file, "pc", &head->at.pc) |
           attributes_get_number(file, "visit", &head->at.visit) |
           attributes_get_number(file, "iteration", &head->at.iteration) | get_int_member(file, "size", &head->size) |
           get_int_member(file, "number", &head->number) | get_int_member(file, "restarts", &head->restarts) |
           attributes_get(file, "time", H5T_NATIVE_DOUBLE, &head->time) | get_values(file, head);
}

int head_get(hid_t file, struct checkpoint_head *head, struct error *error)
{
    memset(head, 0, sizeof *head);
    if (check_is_ours(file, error))
        return -1;
    int result = get_members(file, head)
                     ? error_set(error, ERROR_REFUSED,
                                 "is damaged: its head is not complete, or its values are not what was written")
                     : checkpoint_head_check(head, error);
    if (result)
        checkpoint_head_free(head);
    return result;
}
