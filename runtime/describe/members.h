/*
 * What values and sparse rows consist of, in a program's own words: the members of a structure as C declares them, or
 * names. For those who read a checkpoint. Knows no MPI.
 */
#ifndef EPOP_DESCRIBE_MEMBERS_H
#define EPOP_DESCRIBE_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/error.h"

#define MEMBER_NAME 64

enum member_class { MEMBER_NONE, MEMBER_SIGNED, MEMBER_UNSIGNED, MEMBER_FLOAT };

struct value_member {
    char name[MEMBER_NAME];
    enum member_class class; /* MEMBER_NONE: a name alone */
    size_t size, count;      /* bytes of a number, and how many there are, one after the other */
    size_t offset;           /* where this machine's C compiler puts it */
};

struct members {
    int count;
    struct value_member *list;
    size_t bytes; /* of the structure */
};

/* Of "int64_t step; double dt, centre[3]". 0, or -1 with text. The list is freed with members_free. */
int members_declared(const char *text, struct members *members, struct error *error);
/* The same of "column, value": names alone. */
int members_named(const char *text, struct members *members, struct error *error);
/* Leaves none. */
void members_free(struct members *members);

#endif
