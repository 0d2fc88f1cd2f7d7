/* Attributes: see attributes.h. */
#include "runtime/checkpoint/hdf5/attributes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/checkpoint/hdf5/types.h"

/* count 0: a scalar. */
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

int attributes_put_number(hid_t object, const char *name, int64_t number)
{
    return attributes_put(object, name, H5T_NATIVE_INT64, 0, &number);
}

static int read_one(hid_t attribute, hid_t type, void *value)
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
    int result = read_one(found, type, value);
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

int attributes_get_number(hid_t object, const char *name, int64_t *number)
{
    return is_whole(object, name) ? attributes_get(object, name, H5T_NATIVE_INT64, number) : -1;
}

/* One more byte, a zero. NULL: out of memory, or so many cannot be in the file. */
static char *room_for(hid_t attribute, size_t bytes)
{
    return bytes && bytes <= H5Aget_storage_size(attribute) ? calloc(1, bytes + 1) : NULL;
}

static char *read_bytes(hid_t attribute, size_t *count)
{
    hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    bool right = H5Tequal(type, H5T_STD_U8LE) > 0;
    *count = (size_t)H5Sget_simple_extent_npoints(space);
    char *bytes = right ? room_for(attribute, *count) : NULL;
    bool read = bytes && H5Aread(attribute, type, bytes) >= 0;
    H5Tclose(type);
    H5Sclose(space);
    if (read)
        return bytes;
    free(bytes);
    return NULL;
}

int attributes_get_bytes(hid_t object, const char *name, char **bytes, size_t *count)
{
    hid_t found = H5Aopen(object, name, H5P_DEFAULT);
    *bytes = found < 0 ? NULL : read_bytes(found, count);
    if (found >= 0)
        H5Aclose(found);
    return *bytes ? 0 : -1;
}

/* A string of variable length would come as a pointer to what has to be freed in another way. */
static char *read_text(hid_t attribute)
{
    hid_t type = H5Aget_type(attribute);
    bool right = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
    char *text = right ? room_for(attribute, H5Tget_size(type)) : NULL;
    bool read = text && !read_one(attribute, type, text);
    H5Tclose(type);
    if (read)
        return text;
    free(text);
    return NULL;
}

int attributes_get_text(hid_t object, const char *name, char **text)
{
    hid_t found = H5Aopen(object, name, H5P_DEFAULT);
    *text = found < 0 ? NULL : read_text(found);
    if (found >= 0)
        H5Aclose(found);
    return *text ? 0 : -1;
}
