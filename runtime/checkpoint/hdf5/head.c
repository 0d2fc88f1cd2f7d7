/* The head: see head.h. */
#include "runtime/checkpoint/hdf5/head.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/hdf5/attributes.h"
#include "runtime/checkpoint/hdf5/errors.h"
#include "runtime/checkpoint/hdf5/structure.h"

static const char *text_of(const char *text)
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

/* For other readers, each under its name; we read all of them at once. */
static int put_each_value(hid_t file, const struct checkpoint_head *head)
{
    const char *at = head->values, *end = at + head->value_bytes, *behind;
    uint64_t length;
    int result = 0;
    for (; !result && at < end && (behind = take_value(at, end, &length)); at = behind) {
        char name[LAYOUT_NAME + sizeof "values/"];
        snprintf(name, sizeof name, "values/%s", at);
        result = length ? attributes_put(file, name, H5T_STD_U8LE, length, behind - length) : 0;
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
           attributes_put_text(file, "program", text_of(head->program)) |
           attributes_put_text(file, "structure", text_of(head->structure)) |
           attributes_put_text(file, "arguments", text_of(head->arguments)) |
           attributes_put_number(file, "pc", head->at.pc) | attributes_put_number(file, "visit", head->at.visit) |
           attributes_put_number(file, "iteration", head->at.iteration) |
           attributes_put_number(file, "size", head->size) | attributes_put_number(file, "number", head->number) |
           attributes_put_number(file, "restarts", head->restarts) |
           attributes_put(file, "time", H5T_NATIVE_DOUBLE, 0, &head->time) | put_values(file, head);
}

/* Is it a file of ours, that this EPOP on this machine can read? */
static int check_kind(hid_t file, struct error *error)
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
static int get_int(hid_t file, const char *name, int *number)
{
    int64_t wide = 0;
    int result = attributes_get_number(file, name, &wide);
    *number = wide == (int)wide ? (int)wide : -1;
    return result;
}

static int get_all(hid_t file, struct checkpoint_head *head)
{
    head->format = CHECKPOINT_FORMAT;
    return attributes_get_text(file, "program", &head->program) |
           attributes_get_text(file, "structure", &head->structure) |
           attributes_get_text(file, "arguments", &head->arguments) | get_int(file, "pc", &head->at.pc) |
           attributes_get_number(file, "visit", &head->at.visit) |
           attributes_get_number(file, "iteration", &head->at.iteration) | get_int(file, "size", &head->size) |
           get_int(file, "number", &head->number) | get_int(file, "restarts", &head->restarts) |
           attributes_get(file, "time", H5T_NATIVE_DOUBLE, &head->time) | get_values(file, head);
}

int head_get(hid_t file, struct checkpoint_head *head, struct error *error)
{
    memset(head, 0, sizeof *head);
    if (check_kind(file, error))
        return -1;
    int result = get_all(file, head)
                     ? error_set(error, ERROR_REFUSED,
                                 "is damaged: its head is not complete, or its values are not what was written")
                     : checkpoint_head_check(head, error);
    if (result)
        checkpoint_head_free(head);
    return result;
}
