/*
 * The interface of EPOP: everything that a program with MPI needs. A program without MPI includes <epop/program.h>
 * alone.
 *
 * - A local function may be called by one rank alone. A collective function must be called by all ranks that it names,
 *   in the same order.
 * - A result of type `int` is an epop_result, unless something else is said. A function that fails changes nothing, and
 *   any may return EPOP_ERR_ARGUMENT.
 * - Call the functions from the thread in which the blocks of the program run.
 * - The headers work in C11 and C++17. Build a program as a shared object (`-shared -fPIC`) with the flags of
 *   `pkg-config --cflags --libs epop`; the package for executables is `epop_mpi`.
 */
#ifndef EPOP_EPOP_H
#define EPOP_EPOP_H

#include <epop/blocks.h>
#include <epop/describe.h>
#include <epop/elastic.h>
#include <epop/program.h>
#include <epop/redist.h>
#include <epop/tune.h>
#include <epop/unstructured.h>

#endif
