/*
 * hypre: matrices and vectors of described sparse rows, in a program that is resized. Functions of the header alone,
 * for a program that is linked with hypre; there are none where its headers are not found. docs/guide/libraries.md has
 * an example.
 *
 * Source: hypre Reference Manual, IJ System Interface.
 */
#ifndef EPOP_HYPRE_H
#define EPOP_HYPRE_H

#include <epop/elastic.h>
#include <epop/redist.h>

#if __has_include(<HYPRE_IJ_mv.h>)
#include <HYPRE_IJ_mv.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Gives this rank's first row, and returns how many it has. Local. */
static inline HYPRE_Int epop_hypre_range(epop_dist_t rows, HYPRE_BigInt *first)
{
    int rank, size;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    *first = (HYPRE_BigInt)epop_dist_global(rows, rank, size, 0);
    return (HYPRE_Int)epop_dist_local_count(rows, rank, size);
}

/* Returns the numbers of this rank's rows, from malloc(), of which `*first` is the first and `*count` says how many
 * there are; NULL if out of memory. Local. */
static inline HYPRE_BigInt *epop_hypre_rows(epop_dist_t rows, HYPRE_BigInt *first, HYPRE_Int *count)
{
    HYPRE_BigInt *indices;
    *count = epop_hypre_range(rows, first);
    indices = (HYPRE_BigInt *)malloc(((size_t)*count + 1) * sizeof *indices);
    for (HYPRE_Int i = 0; indices && i < *count; i++)
        indices[i] = *first + i;
    return indices;
}

/* Gives hypre this rank's rows, as epop_describe_csr has them: the row pointers, and the columns, by their numbers in
 * the whole matrix, with their values. `rows` is in blocks or by cuts. An object of an old world that `*matrix` has is
 * destroyed. Collective over epop_world(). EPOP_ERR_MEMORY, or EPOP_ERR_SYSTEM if hypre refuses. */
static inline int epop_hypre_matrix(HYPRE_IJMatrix *matrix, epop_dist_t rows, const HYPRE_Int *starts,
                                    const HYPRE_BigInt *columns, const HYPRE_Complex *values)
{
    HYPRE_Int count, failed;
    HYPRE_BigInt first, *indices = epop_hypre_rows(rows, &first, &count);
    HYPRE_Int *lengths = (HYPRE_Int *)malloc(((size_t)count + 1) * sizeof *lengths);
    if (!indices || !lengths) {
        free(indices);
        free(lengths);
        return EPOP_ERR_MEMORY;
    }
    for (HYPRE_Int i = 0; i < count; i++)
        lengths[i] = starts[i + 1] - starts[i];
    if (*matrix)
        HYPRE_IJMatrixDestroy(*matrix);
    HYPRE_IJMatrixCreate(epop_world(), first, first + count - 1, first, first + count - 1, matrix);
    HYPRE_IJMatrixSetObjectType(*matrix, HYPRE_PARCSR);
    HYPRE_IJMatrixInitialize(*matrix);
    HYPRE_IJMatrixSetValues(*matrix, count, lengths, indices, columns, values);
    failed = HYPRE_IJMatrixAssemble(*matrix);
    free(indices);
    free(lengths);
    return failed ? EPOP_ERR_SYSTEM : EPOP_OK;
}

/* Sets a vector to this rank's values, one for each row. Collective over epop_world(). Errors as of epop_hypre_matrix.
 */
static inline int epop_hypre_set(HYPRE_IJVector vector, epop_dist_t rows, const HYPRE_Complex *values)
{
    HYPRE_Int count, failed;
    HYPRE_BigInt first, *indices = epop_hypre_rows(rows, &first, &count);
    if (!indices)
        return EPOP_ERR_MEMORY;
    HYPRE_IJVectorSetValues(vector, count, indices, values);
    failed = HYPRE_IJVectorAssemble(vector);
    free(indices);
    return failed ? EPOP_ERR_SYSTEM : EPOP_OK;
}

/* Copies this rank's part of a vector to `values`. Errors as of epop_hypre_matrix. Local. */
static inline int epop_hypre_get(HYPRE_IJVector vector, epop_dist_t rows, HYPRE_Complex *values)
{
    HYPRE_Int count, failed;
    HYPRE_BigInt first, *indices = epop_hypre_rows(rows, &first, &count);
    if (!indices)
        return EPOP_ERR_MEMORY;
    failed = HYPRE_IJVectorGetValues(vector, count, indices, values);
    free(indices);
    return failed ? EPOP_ERR_SYSTEM : EPOP_OK;
}

/* Makes a vector with these values. One of an old world that `*vector` has is destroyed. Collective over epop_world().
 * Errors as of epop_hypre_matrix. */
static inline int epop_hypre_vector(HYPRE_IJVector *vector, epop_dist_t rows, const HYPRE_Complex *values)
{
    HYPRE_BigInt first;
    HYPRE_Int count = epop_hypre_range(rows, &first);
    if (*vector)
        HYPRE_IJVectorDestroy(*vector);
    HYPRE_IJVectorCreate(epop_world(), first, first + count - 1, vector);
    HYPRE_IJVectorSetObjectType(*vector, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(*vector);
    return epop_hypre_set(*vector, rows, values);
}

#ifdef __cplusplus
}
#endif
#endif
#endif
