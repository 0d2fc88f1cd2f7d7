/*
 * Other software changes beneath EPOP. Here are the versions that its tests were run with; what depends on them is in
 * runtime/hydra and runtime/backends (MPICH and its launcher), runtime/checkpoint/hdf5, gateway (OpenPMIx), and
 * scheduler/slurm and scheduler/modules (Slurm).
 */
#ifndef EPOP_BASE_TRIED_H
#define EPOP_BASE_TRIED_H

#include <stdbool.h>
#include <stddef.h>

enum { TRIED_TEXT = 160 };

/* what: "MPICH", "Open MPI", "HDF5", "OpenPMIx" or "Slurm"; version: as "4.0.2". False, with a line of text: this
 * version is none of those. Any thread. */
bool tried_with(const char *what, const char *version, char text[TRIED_TEXT]);

#endif
