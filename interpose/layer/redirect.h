/* The wrappers are put in the way of MPICH's Fortran library where it calls PMPI_ functions. */
#ifndef INTERPOSE_LAYER_REDIRECT_H
#define INTERPOSE_LAYER_REDIRECT_H

/* In each such library that is loaded by now: to be called when a program was loaded. Local. */
void interpose_redirect_fortran(void);

#endif
