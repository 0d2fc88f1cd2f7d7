/*
 * The elimination. In a step every rank has its panel; the owner of the next one brings that one up to date first,
 * factorizes and sends it, and only then turns to its other columns (lookahead): the others find it when they are done.
 */
#include "gauss/lu.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "gauss/panel.h"

/* Columns updated at a time: large enough for the matrix product, small enough to look after the messages between. */
#define CHUNK 256

/* With partial pivoting the inverse of a unit triangle is hardly ever larger than some 10; it can be 2^width. */
#define LARGEST_INVERSE 64.0

/* A factorized panel, as it travels: one run of doubles. */
typedef struct message {
    int first, width, below; /* its first column, its columns, the rows below its triangle */
    double *failed;          /* 1: 0, or 1 + the column without a pivot */
    double *inverted;        /* 1: whether `triangle` is inverted */
    double *pivots;          /* width: row numbers, counted from row `first` */
    double *triangle;        /* width x width: the unit lower triangle */
    double *lower;           /* below x width: L below the triangle */
} message_t;

static message_t message_at(const lu_t *lu, int64_t first, int64_t width, double *panel)
{
    message_t m = {.first = (int)first, .width = (int)width};
    m.failed = panel;
    m.inverted = panel + 1;
    m.pivots = panel + 2;
    m.below = (int)lu->n - m.first - m.width;
    m.triangle = m.pivots + m.width;
    m.lower = m.triangle + (size_t)m.width * (size_t)m.width;
    return m;
}

static int message_length(const message_t *m)
{
    return 2 + m->width + m->width * m->width + m->below * m->width;
}

int64_t lu_panel_length(const lu_t *lu)
{
    if (lu->done == 0 || lu->done >= lu->n)
        return 0;
    message_t m = message_at(lu, lu->done, lu->wide, lu->panel);
    return message_length(&m);
}

epop_dist_t lu_columns(const lu_t *lu)
{
    return epop_dist_block_cyclic(lu->n, lu->block);
}

/* A panel is one rank's. */
static int64_t panel_width(const lu_t *lu, int64_t first, int64_t width)
{
    int64_t left = lu->block - first % lu->block;
    left = left < lu->n - first ? left : lu->n - first;
    return width < left ? width : left;
}

/* The longest panel: a whole block, the first. */
static int64_t longest(const lu_t *lu)
{
    return 2 + lu->block + lu->block * lu->n;
}

int lu_workspace(lu_t *lu)
{
    double *panel = realloc(lu->panel, sizeof(double) * (size_t)longest(lu));
    lu->panel = panel ? panel : lu->panel;
    lu->next_panel = malloc(sizeof(double) * (size_t)longest(lu));
    lu->top = malloc(sizeof(double) * (size_t)lu->block * CHUNK);
    lu->pivots = malloc(sizeof(int) * (size_t)lu->block * 2);
    return panel && lu->next_panel && lu->top && lu->pivots ? 0 : -1;
}

int lu_create(lu_t *lu, int64_t n, int64_t block)
{
    if (block > n)
        block = n;
    *lu = (lu_t){.n = n, .block = block, .ld = n};
    /* Columns a large power of two apart would fall on the same lines of the cache. */
    if (n % 64 == 0)
        lu->ld += 8;
    if (longest(lu) > INT32_MAX)
        return -1;
    lu->b = malloc(sizeof(double) * (size_t)n);
    lu->smallest = malloc(sizeof(double) * (size_t)n);
    return lu->b && lu->smallest ? lu_workspace(lu) : -1;
}

void lu_free_workspace(lu_t *lu)
{
    free(lu->next_panel);
    free(lu->top);
    free(lu->pivots);
    lu->next_panel = lu->top = NULL;
    lu->pivots = NULL;
}

/* This rank's columns among global columns 0 .. before-1. */
static int64_t columns_before(const lu_t *lu, int64_t before, MPI_Comm comm)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    return epop_dist_local_count(epop_dist_block_cyclic(before < lu->n ? before : lu->n, lu->block), rank, size);
}

/* U = L^-1 A in the rows of the panel. */
static void solve_top(const lu_t *lu, const message_t *m, double *u, int count)
{
    int ld = (int)lu->ld, w = m->width;
    if (!*m->inverted) {
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, w, count, 1.0, m->triangle, w, u,
                    ld);
        return;
    }
    for (int j = 0; j < count; j++)
        memcpy(lu->top + (size_t)j * (size_t)w, u + (size_t)j * (size_t)ld, sizeof(double) * (size_t)w);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, w, count, w, 1.0, m->triangle, w, lu->top, w, 0.0, u, ld);
}

/* Eliminates panel m from some columns: exchanges rows, U = L^-1 A at the top, and A - L U below. */
static void update(const lu_t *lu, const message_t *m, double *columns, int count)
{
    int ld = (int)lu->ld, w = m->width;
    double *u = columns + m->first;
    for (int j = 0; j < count; j++)
        panel_swap(u + (size_t)j * (size_t)ld, lu->pivots, 0, w);
    solve_top(lu, m, u, count);
    if (m->below > 0)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m->below, count, w, -1.0, m->lower, m->below, u, ld, 1.0,
                    u + w, ld);
}

/* Updates this rank's columns from local column `first` on, and keeps the message of the next panel going. */
static void update_rest(const lu_t *lu, const message_t *m, int64_t first, int64_t count, MPI_Request *request)
{
    for (int64_t done = first; done < count; done += CHUNK) {
        int64_t width = count - done < CHUNK ? count - done : CHUNK;
        int arrived;
        update(lu, m, lu->a + done * lu->ld, (int)width);
        MPI_Test(request, &arrived, MPI_STATUS_IGNORE);
    }
}

/* A product with the inverse is much faster than dtrsm, and as exact as long as the inverse is not large. */
static void make_triangle(const message_t *m, const double *a, int ld)
{
    int w = m->width;
    double largest = panel_inverse(a, ld, w, m->triangle);
    *m->inverted = largest <= LARGEST_INVERSE;
    for (int j = 0; j < w && !*m->inverted; j++)
        memcpy(m->triangle + (size_t)j * (size_t)w, a + (size_t)j * (size_t)ld, sizeof(double) * (size_t)w);
}

/* Factorizes this rank's columns of panel m and packs the message. */
static void make_panel(const lu_t *lu, const message_t *m, double *columns)
{
    double *a = columns + m->first;
    int w = m->width, ld = (int)lu->ld;
    int *pivots = lu->pivots + lu->block;
    int failed = panel_factorize(a, ld, w + m->below, w, pivots, lu->smallest + m->first);
    *m->failed = failed ? m->first + failed : 0;
    for (int j = 0; j < w && !failed; j++) {
        m->pivots[j] = pivots[j];
        memcpy(m->lower + (size_t)j * (size_t)m->below, a + (size_t)j * (size_t)ld + w,
               sizeof(double) * (size_t)m->below);
    }
    if (!failed)
        make_triangle(m, a, ld);
}

/* Starts to send the panel at column `first`, made from this rank's columns if it owns them. */
static void start_panel(const lu_t *lu, int64_t first, int64_t width, double *panel, MPI_Comm comm,
                        MPI_Request *request)
{
    message_t m = message_at(lu, first, width, panel);
    int rank, owner;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &owner);
    owner = (int)(first / lu->block % owner);
    if (owner == rank)
        make_panel(lu, &m, lu->a + columns_before(lu, m.first, comm) * lu->ld);
    MPI_Ibcast(panel, message_length(&m), MPI_DOUBLE, owner, comm, request);
}

int64_t lu_step(lu_t *lu, int64_t width, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (lu->done == 0) {
        lu->wide = panel_width(lu, 0, width);
        start_panel(lu, 0, lu->wide, lu->panel, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (*lu->panel != 0.0)
        return (int64_t)*lu->panel;
    message_t m = message_at(lu, lu->done, lu->wide, lu->panel);
    for (int j = 0; j < m.width; j++)
        lu->pivots[j] = (int)m.pivots[j];
    lu->done += lu->wide;
    lu->wide = panel_width(lu, lu->done, width);
    int64_t done = columns_before(lu, lu->done, comm);
    if (m.below > 0) {
        int64_t next = columns_before(lu, lu->done + lu->wide, comm);
        if (next > done)
            update(lu, &m, lu->a + done * lu->ld, (int)(next - done));
        start_panel(lu, lu->done, lu->wide, lu->next_panel, comm, &request);
        update_rest(lu, &m, next, columns_before(lu, lu->n, comm), &request);
    }
    update(lu, &m, lu->b, 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    double *used = lu->panel;
    lu->panel = lu->next_panel;
    lu->next_panel = used;
    return 0;
}
