/*
 * The factorization of one panel, a tall block of columns that one rank owns: P A = L U with partial pivoting.
 * Everything by columns; nothing here communicates.
 */
#ifndef GAUSS_PANEL_H
#define GAUSS_PANEL_H

/*
 * In place: U on and above the diagonal, below it the unit lower L. Row j was exchanged with row pivots[j] >= j.
 * Returns 0, or 1 + the first column whose pivot is not above smallest[column] (0: only an exact zero is refused).
 */
int panel_factorize(double *a, int ld, int rows, int width, int *pivots, const double *smallest);

/* The inverse of the unit lower triangle at l, width x width, in full: with its ones and zeros. Returns its largest
 * size. */
double panel_inverse(const double *l, int ld, int width, double *inverse);

/* The exchanges of rows first .. last-1, in this order, in one column. */
void panel_swap(double *column, const int *pivots, int first, int last);

#endif
