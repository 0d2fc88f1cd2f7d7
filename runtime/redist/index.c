/* Which datatypes are integers: see index.h. */
#include "runtime/redist/index.h"

#include <stdbool.h>
#include <stddef.h>

int redist_index_width(MPI_Datatype type)
{
    /* What this MPI does not have (Fortran's may be missing) is MPI_DATATYPE_NULL. */
    const MPI_Datatype integers[] = {MPI_INT,   MPI_INT32_T, MPI_INT64_T, MPI_LONG,     MPI_LONG_LONG, MPI_AINT,
                                     MPI_COUNT, MPI_OFFSET,  MPI_INTEGER, MPI_INTEGER4, MPI_INTEGER8};
    int size = 0;
    bool known = false;
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        known = known || (type == integers[i] && type != MPI_DATATYPE_NULL);
    if (known)
        MPI_Type_size(type, &size);
    return size == 4 || size == 8 ? size : 0;
}
