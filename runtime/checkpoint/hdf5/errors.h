/* What HDF5 says of a failure, as one line. It would print a stack of its own otherwise. */
#ifndef EPOP_CHECKPOINT_HDF5_ERRORS_H
#define EPOP_CHECKPOINT_HDF5_ERRORS_H

#include <hdf5.h>

#include "runtime/base/error.h"

struct errors_before {
    H5E_auto2_t print;
    void *data;
};

/* Around all calls of HDF5: nothing is printed between them. The program may use the same library. */
struct errors_before errors_hold(void);
void errors_restore(const struct errors_before *before);

/* Always -1. "what: why", where `why` is what HDF5 found first. */
int errors_tell(struct error *error, const char *what);

#endif
