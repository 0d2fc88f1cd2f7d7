/*
 * Recursive panel factorization: the left half, then the right half, with a matrix product between. Most of the work is
 * in the products; a plain column-by-column elimination would run at the speed of memory.
 */
#include "gauss/panel.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* Columns eliminated one by one. Measured: 2 % of the whole elimination between 4 and 8, more beyond. */
#define LEAF 4

typedef struct panel {
    double *a;
    int ld, rows;
    int *pivots;
    const double *smallest;
} panel_t;

static double *at(const panel_t *p, int row, int col)
{
    return p->a + (long)col * p->ld + row;
}

void panel_swap(double *column, const int *pivots, int first, int last)
{
    for (int i = first; i < last; i++) {
        double moved = column[i];
        column[i] = column[pivots[i]];
        column[pivots[i]] = moved;
    }
}

/* Exchanges of rows first .. last-1, in columns from .. to-1. */
static void swap_rows(const panel_t *p, int first, int last, int from, int to)
{
    for (int j = from; j < to; j++)
        panel_swap(at(p, 0, j), p->pivots, first, last);
}

static int eliminate_leaf(const panel_t *p, int first, int last)
{
    for (int j = first; j < last; j++) {
        double *column = at(p, 0, j);
        int below = p->rows - j - 1, right = last - j - 1;
        p->pivots[j] = j + (int)cblas_idamax(p->rows - j, column + j, 1);
        swap_rows(p, j, j + 1, first, last);
        if (!(fabs(column[j]) > p->smallest[j]))
            return j + 1;
        /* The reciprocal of the smallest numbers is infinite. */
        if (fabs(column[j]) >= 0x1p-1020)
            cblas_dscal(below, 1.0 / column[j], column + j + 1, 1);
        else
            for (int i = j + 1; i < p->rows; i++)
                column[i] /= column[j];
        if (right > 0 && below > 0)
            cblas_dger(CblasColMajor, below, right, -1.0, column + j + 1, 1, at(p, j, j + 1), p->ld,
                       at(p, j + 1, j + 1), p->ld);
    }
    return 0;
}

/* Rows first .. middle-1 of the right half: solved with the unit triangle to their left. Too small for dtrsm to pay. */
static void solve_triangle(const panel_t *p, int first, int middle, int last)
{
    for (int j = middle; j < last; j++) {
        double *x = at(p, 0, j);
        for (int k = first; k < middle; k++) {
            const double *l = at(p, 0, k);
            for (int i = k + 1; i < middle; i++)
                x[i] -= x[k] * l[i];
        }
    }
}

/* Columns first .. last-1 from row `first` down; the exchanges reach all of these columns. */
static int eliminate(const panel_t *p, int first, int last)
{
    if (last - first <= LEAF)
        return eliminate_leaf(p, first, last);
    int middle = first + (last - first) / 2;
    int failed = eliminate(p, first, middle);
    if (failed)
        return failed;
    swap_rows(p, first, middle, middle, last);
    solve_triangle(p, first, middle, last);
    if (p->rows > middle)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, p->rows - middle, last - middle, middle - first, -1.0,
                    at(p, middle, first), p->ld, at(p, first, middle), p->ld, 1.0, at(p, middle, middle), p->ld);
    failed = eliminate(p, middle, last);
    if (failed)
        return failed;
    swap_rows(p, middle, last, first, middle);
    return 0;
}

int panel_factorize(double *a, int ld, int rows, int width, int *pivots, const double *smallest)
{
    panel_t panel = {a, ld, rows, pivots, smallest};
    return eliminate(&panel, 0, width);
}

double panel_inverse(const double *l, int ld, int width, double *inverse)
{
    int count = width * width;
    memset(inverse, 0, sizeof(double) * (size_t)count);
    for (int j = 0; j < width; j++)
        inverse[j * width + j] = 1.0;
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, width, width, 1.0, l, ld, inverse,
                width);
    return fabs(inverse[cblas_idamax(count, inverse, 1)]);
}
