/*
 * Attributes in Fortran: its library reaches MPI's by these three functions. What copies one is a Fortran function,
 * which a proxy calls. Where MPI is not MPICH nobody calls them.
 */
#include <dlfcn.h>

#include "interpose/instead.h"
#include "interpose/interpose.h"

#define CALL __attribute__((visibility("default")))

/* MPI's own, behind the function of this name here. */
#define REAL(function, name) (*(void **)&(function) = dlsym(RTLD_NEXT, name))

CALL int MPII_Comm_set_attr(MPI_Comm comm, int keyval, void *value, int type);
CALL int MPII_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag, int type);
CALL void MPII_Keyval_set_proxy(int keyval, epop__copy_proxy *copy, void *free_attribute);

int MPII_Comm_set_attr(MPI_Comm comm, int keyval, void *value, int type)
{
    epop__set_attribute *set;
    REAL(set, "MPII_Comm_set_attr");
    return set(interpose_world(comm), keyval, value, type);
}

int MPII_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag, int type)
{
    epop__get_attribute *get;
    REAL(get, "MPII_Comm_get_attr");
    return get(interpose_world(comm), keyval, value, flag, type);
}

/* Called when a key was just made; the keys of datatypes and windows come this way, too. */
void MPII_Keyval_set_proxy(int keyval, epop__copy_proxy *copy, void *free_attribute)
{
    void (*set)(int, epop__copy_proxy *, void *);
    struct epop__fortran_keyval how = {.copy = copy};
    REAL(set, "MPII_Keyval_set_proxy");
    REAL(how.set, "MPII_Comm_set_attr");
    REAL(how.get, "MPII_Comm_get_attr");
    set(keyval, copy, free_attribute);
    epop__instead_fortran_keyval(keyval, &how);
}
