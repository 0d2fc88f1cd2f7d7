/* Everything a program with MPI needs. A program without MPI includes <epop/program.h> alone. */
#ifndef EPOP_EPOP_H
#define EPOP_EPOP_H

#include <epop/blocks.h>
#include <epop/describe.h>
#include <epop/elastic.h>
#include <epop/program.h>
#include <epop/redist.h>
#include <epop/unstructured.h>

#endif
