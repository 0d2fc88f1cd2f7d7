/* Everything a program with MPI needs. A program without MPI includes <epop/program.h> alone. */
#ifndef EPOP_EPOP_H
#define EPOP_EPOP_H

#include <epop/elastic.h>
#include <epop/program.h>
#include <epop/redist.h>

#endif
