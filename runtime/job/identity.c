/* What has to be the same in all processes of a job: see identity.h. */
#include "runtime/job/identity.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/base/hash.h"

static uint64_t hash_file(const char *path)
{
    uint64_t result = HASH_BEGIN;
    char block[1 << 16];
    FILE *file = path ? fopen(path, "rb") : NULL;
    for (size_t read; file && (read = fread(block, 1, sizeof block, file)) > 0;)
        result = hash_bytes(result, block, read);
    if (file)
        fclose(file);
    return result;
}

void identity_text(const char *path, char text[IDENTITY_MAX])
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(mpi, &length);
    snprintf(text, IDENTITY_MAX, "EPOP %s, MPI library %08x, program %016llx", EPOP_VERSION,
             (unsigned)hash_bytes(HASH_BEGIN, mpi, (size_t)length), (unsigned long long)hash_file(path));
}
