/*
 * HDF5's way to the file: what fails is remembered, and HDF5 does not learn of it. For a file that it could not
 * write it cannot close either, and would come back to it, freed, until the process dies of that.
 */
#ifndef EPOP_CHECKPOINT_HDF5_DRIVER_H
#define EPOP_CHECKPOINT_HDF5_DRIVER_H

#include <hdf5.h>

/* For a property list of file access. 0, or -1. */
int driver_choose(hid_t access);

/* What fails first is told there, as an error number, until the file is closed; 0: nothing. */
void driver_watch(hid_t file, int *trouble);

/* From here on nothing is written. */
void driver_stop(hid_t file);

#endif
