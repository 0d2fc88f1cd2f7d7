/* Types: see types.h. Numbers are written as this machine has them, and say so: others convert. */
#include "runtime/checkpoint/hdf5/types.h"

#include <stdio.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN(type) type##LE
#else
#define OWN(type) type##BE
#endif

static hid_t integer(int64_t size)
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

static hid_t unsigned_integer(int64_t size)
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
static hid_t real(int64_t size)
{
    if (size == 4)
        return H5Tcopy(OWN(H5T_IEEE_F32));
    return size == 8 ? H5Tcopy(OWN(H5T_IEEE_F64)) : H5Tcopy(H5T_NATIVE_LDOUBLE);
}

/* As h5py has it. */
static hid_t complex_number(int64_t size)
{
    hid_t part = real(size / 2), whole = H5Tcreate(H5T_COMPOUND, (size_t)size);
    H5Tinsert(whole, "r", 0, part);
    H5Tinsert(whole, "i", (size_t)size / 2, part);
    H5Tclose(part);
    return whole;
}

hid_t types_text(size_t bytes)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, bytes);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static hid_t one_number(const struct layout_field *field)
{
    switch (field->class) {
    case LAYOUT_INTEGER:
        return integer(field->size);
    case LAYOUT_UNSIGNED:
        return unsigned_integer(field->size);
    case LAYOUT_FLOAT:
        return real(field->size);
    case LAYOUT_COMPLEX:
        return complex_number(field->size);
    default:
        return H5Tcreate(H5T_OPAQUE, (size_t)field->size); /* h5py reads those without a tag */
    }
}

static hid_t numbers(const struct layout_field *field)
{
    hid_t one = one_number(field);
    if (field->count == 1)
        return one;
    hsize_t count = (hsize_t)field->count;
    hid_t all = H5Tarray_create2(one, 1, &count);
    H5Tclose(one);
    return all;
}

static hid_t structure(const struct layout_type *type)
{
    hid_t made = H5Tcreate(H5T_COMPOUND, (size_t)type->size);
    int64_t at = 0;
    for (int i = 0; i < type->fields; i++) {
        char name[16];
        hid_t member = numbers(&type->field[i]);
        snprintf(name, sizeof name, "f%d", i);
        H5Tinsert(made, name, (size_t)at, member);
        H5Tclose(member);
        at += type->field[i].size * type->field[i].count;
    }
    return made;
}

hid_t types_make(const struct layout_type *type)
{
    return type->fields == 1 ? numbers(&type->field[0]) : structure(type);
}
