/* What has to be the same in all processes of a job: see identity.h. */
#include "runtime/identity.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

/* FNV-1a, 64 bits: tells two files apart, and is no protection against anybody. */
static uint64_t hash(uint64_t so_far, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < count; i++)
        so_far = (so_far ^ p[i]) * 1099511628211u;
    return so_far;
}

static uint64_t hash_file(const char *path)
{
    uint64_t result = 14695981039346656037u;
    char block[1 << 16];
    FILE *file = path ? fopen(path, "rb") : NULL;
    for (size_t read; file && (read = fread(block, 1, sizeof block, file)) > 0;)
        result = hash(result, block, read);
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
             (unsigned)hash(14695981039346656037u, mpi, (size_t)length), (unsigned long long)hash_file(path));
}
