/* Finite volumes of second order: upwind, with slopes that are limited so that nothing overshoots. */
#include "amr/block.h"

#include <math.h>
#include <stdlib.h>

#define PI      3.14159265358979323846
#define COURANT 0.4

/* Cells by their place across a pair of sides, and along it. */
static int cell(int side, int across, int along)
{
    return side < BELOW ? along * CELLS + across : across * CELLS + along;
}

/* Across, the n-th cell from a side. */
static int from_side(int side, int n)
{
    return side % 2 ? CELLS - 1 - n : n;
}

static double smaller(double a, double b)
{
    return a * b <= 0 ? 0 : fabs(a) < fabs(b) ? a : b;
}

/* ---- At the start -------------------------------------------------------- */

int flow_create(flow_t *flow, int levels, int64_t period)
{
    int64_t cells = (int64_t)CELLS << levels;
    *flow = (flow_t){levels, malloc(((size_t)cells + 1) * sizeof(double)), COURANT / (double)cells, period};
    for (int64_t i = 0; flow->sine && i <= cells; i++)
        flow->sine[i] = i == cells ? 0 : pow(sin(PI * (double)i / (double)cells), 2);
    return flow->sine ? EPOP_OK : EPOP_ERR_MEMORY;
}

/* A disc. */
static double start_value(double x, double y)
{
    return 1 / (1 + exp((hypot(x - 0.5, y - 0.75) - 0.15) / 0.004));
}

/* At the middle of a cell of that block, or beside it. */
static double start_of(spot_t s, int x, int y)
{
    double side = ldexp(1, -s.level) / CELLS;
    return start_value(((double)s.x * CELLS + x + 0.5) * side, ((double)s.y * CELLS + y + 0.5) * side);
}

void block_start(block_t *block, spot_t spot)
{
    for (int i = 0; i < CELLS * CELLS; i++)
        block->u[i] = start_of(spot, i % CELLS, i / CELLS);
}

double block_start_jump(spot_t spot)
{
    double jump = 0;
    for (int y = -2; y < CELLS + 2; y++)
        for (int x = -2; x < CELLS + 2; x++)
            jump = fmax(jump, fmax(fabs(start_of(spot, x + 1, y) - start_of(spot, x, y)),
                                   fabs(start_of(spot, x, y + 1) - start_of(spot, x, y))));
    return jump;
}

/* ---- Borders ------------------------------------------------------------- */

void block_edge(const block_t *block, int side, int kind, int part, edge_t *edge)
{
    for (int k = 0; k < CELLS; k++) {
        int along = kind == COARSER ? (part * CELLS + k) / 2 : k;
        for (int n = 0; n < 2; n++)
            edge[k][n] = block->u[cell(side, from_side(side, kind == COARSER ? 0 : n), along)];
    }
}

void block_mirror(const block_t *block, int side, border_t *border)
{
    for (int k = 0; k < CELLS; k++)
        for (int n = 0; n < 2; n++)
            border->cells[side][k][n] = block->u[cell(side, from_side(side, 0), k)];
}

double block_jump(const block_t *block, const border_t *border)
{
    double jump = 0;
    for (int side = LEFT; side < SIDES; side += 2)
        for (int along = 0; along < CELLS; along++)
            for (int i = 1; i < CELLS; i++)
                jump = fmax(jump, fabs(block->u[cell(side, i, along)] - block->u[cell(side, i - 1, along)]));
    for (int side = LEFT; side < SIDES; side++) {
        int finer = border->kind[side] == FINER;
        for (int k = 0; k < (finer ? 2 * CELLS : CELLS); k++) {
            const double *there = border->cells[side][k];
            double own = block->u[cell(side, from_side(side, 0), finer ? k / 2 : k)];
            jump = fmax(jump, fmax(fabs(there[0] - own), fabs(there[1] - there[0])));
        }
    }
    return jump;
}

/* ---- A step -------------------------------------------------------------- */

/* The present flow through the faces of a pair of sides. */
typedef struct stream {
    const double *sine;
    double strength; /* times the sign of the pair */
    double step;
} stream_t;

/* What passes a face: between the two cells in the middle of four in a row. `at` is its coordinate, `from` and `width`
 * are its ends, in finest cells, and `area` that of the cells. */
static double passing(const stream_t *s, int64_t at, int64_t from, int64_t width, double area, const double *u)
{
    double flow = s->strength * s->sine[at] * (s->sine[from + width] - s->sine[from]);
    double half = 0.5 * (1 - fabs(flow) * s->step / area);
    return flow > 0 ? flow * (u[1] + half * smaller(u[1] - u[0], u[2] - u[1]))
                    : flow * (u[2] - half * smaller(u[3] - u[2], u[2] - u[1]));
}

/* Through a cell's face towards two finer ones: that which they compute themselves, from the same numbers. */
static double passing_finer(const stream_t *s, int64_t at, int64_t from, int64_t width, double area, int side,
                            const edge_t *finer, double own)
{
    double sum = 0;
    for (int k = 0; k < 2; k++) {
        const double low[4] = {finer[k][1], finer[k][0], own, own}, high[4] = {own, own, finer[k][0], finer[k][1]};
        sum += passing(s, at, from + k * width / 2, width / 2, area / 4, side % 2 ? high : low);
    }
    return sum;
}

/* The n-th cell beside a side; of two finer ones their mean. */
static double beside(const border_t *border, int side, int along, int n)
{
    const edge_t *cells = border->cells[side];
    return border->kind[side] == FINER ? (cells[2 * along][n] + cells[2 * along + 1][n]) / 2 : cells[along][n];
}

/* A row of cells with those beside it. */
static void take_row(const block_t *block, const border_t *border, int side, int along, double *row)
{
    for (int n = 0; n < 2; n++) {
        row[1 - n] = beside(border, side, along, n);
        row[CELLS + 2 + n] = beside(border, side + 1, along, n);
    }
    for (int i = 0; i < CELLS; i++)
        row[i + 2] = block->u[cell(side, i, along)];
}

/* What a row gains between this pair of sides. */
static void advance_row(const block_t *block, spot_t spot, const border_t *border, int side, int along, stream_t stream,
                        int64_t width, double *gain)
{
    double row[CELLS + 4], faces[CELLS + 1], area = pow(ldexp(1, -spot.level) / CELLS, 2);
    int64_t across = (side < BELOW ? spot.x : spot.y) * CELLS * width;
    int64_t from = ((side < BELOW ? spot.y : spot.x) * CELLS + along) * width;
    take_row(block, border, side, along, row);
    for (int i = 0; i <= CELLS; i++)
        faces[i] = passing(&stream, across + i * width, from, width, area, row + i);
    for (int end = 0; end < 2; end++)
        if (border->kind[side + end] == FINER)
            faces[end * CELLS] = passing_finer(&stream, across + end * CELLS * width, from, width, area, side + end,
                                               border->cells[side + end] + 2 * along, row[end ? CELLS + 1 : 2]);
    for (int i = 0; i < CELLS; i++)
        gain[cell(side, i, along)] += (faces[i] - faces[i + 1]) * stream.step / area;
}

void block_advance(block_t *block, spot_t spot, const border_t *border, const flow_t *flow, int64_t step)
{
    double gain[CELLS * CELLS] = {0};
    double strength = cos(PI * ((double)step + 0.5) / (double)flow->period) / PI;
    for (int side = LEFT; side < SIDES; side += 2) {
        stream_t stream = {flow->sine, side < BELOW ? strength : -strength, flow->step};
        for (int along = 0; along < CELLS; along++)
            advance_row(block, spot, border, side, along, stream, (int64_t)1 << (flow->levels - spot.level), gain);
    }
    for (int i = 0; i < CELLS * CELLS; i++)
        block->u[i] += gain[i];
}

/* ---- Another level ------------------------------------------------------- */

/* The difference to the next cell, or that to the one before if it is smaller; none at the block's ends. */
static double slope(const block_t *block, int i, int at, int stride)
{
    return at == 0 || at == CELLS - 1 ? 0
                                      : smaller(block->u[i + stride] - block->u[i], block->u[i] - block->u[i - stride]);
}

void block_split(const block_t *parent, block_t *children)
{
    for (int i = 0; i < CELLS * CELLS; i++) {
        int x = i % CELLS, y = i / CELLS;
        double dx = slope(parent, i, x, 1) / 4, dy = slope(parent, i, y, CELLS) / 4;
        block_t *child = &children[x / (CELLS / 2) + y / (CELLS / 2) * 2];
        double *u = child->u + 2 * y % CELLS * CELLS + 2 * x % CELLS;
        u[0] = parent->u[i] - dx - dy;
        u[1] = parent->u[i] + dx - dy;
        u[CELLS] = parent->u[i] - dx + dy;
        u[CELLS + 1] = parent->u[i] + dx + dy;
    }
}

void block_join(const block_t *children, block_t *parent)
{
    for (int i = 0; i < CELLS * CELLS; i++) {
        int x = i % CELLS, y = i / CELLS;
        const double *u = children[x / (CELLS / 2) + y / (CELLS / 2) * 2].u + 2 * y % CELLS * CELLS + 2 * x % CELLS;
        parent->u[i] = (u[0] + u[1] + u[CELLS] + u[CELLS + 1]) / 4;
    }
}

double block_mass(const block_t *block, spot_t spot)
{
    double sum = 0;
    for (int i = 0; i < CELLS * CELLS; i++)
        sum += block->u[i];
    return ldexp(sum / (CELLS * CELLS), -2 * spot.level);
}
