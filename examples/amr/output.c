/* Files are opened anew for each of their parts: whoever is rank 0 then writes it. */
#include "amr/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/agree.h"

static int rank_here(void)
{
    int rank;
    MPI_Comm_rank(epop_world(), &rank);
    return rank;
}

/* Appends, and says so if it cannot. */
static int close_file(FILE *file, const char *path, char *text, size_t size)
{
    int failed = !file || ferror(file);
    failed |= file && fclose(file);
    if (failed)
        snprintf(text, size, "%s: cannot be written", path);
    return failed;
}

/* CPU time alone is the same on a machine that does much else. */
static int write_line(const solver_t *s, int64_t asked, char *text, size_t size)
{
    double sum = 0, most = 0;
    MPI_Reduce(&s->computed, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, epop_world());
    MPI_Reduce(&s->computed, &most, 1, MPI_DOUBLE, MPI_MAX, 0, epop_world());
    if (rank_here() != 0)
        return 0;
    FILE *file = fopen(s->options.log, "a");
    if (file && s->step == 1)
        fprintf(file, "step\tblocks\tranks\tasked\timbalance\tslowest\tmean\n");
    if (file)
        fprintf(file, "%" PRId64 "\t%" PRId64 "\t%d\t%" PRId64 "\t%.4f\t%.3e\t%.3e\n", s->step, s->mesh.curve.count,
                s->borders.size, asked, mesh_imbalance(&s->mesh), most, sum / s->borders.size);
    return close_file(file, s->options.log, text, size);
}

/* A line for each leaf: the step, its level, column and row there, its rank, and its cells' mean. */
static int write_mesh(const solver_t *s, char *text, size_t size)
{
    int64_t count = s->mesh.curve.count;
    double *mean = calloc((size_t)count, sizeof *mean);
    for (int64_t i = 0; mean && i < s->count; i++)
        mean[s->blocks[i].place] = block_mass(&s->blocks[i], (spot_t){0});
    if (agree_on_error(epop_world(), mean ? 0 : EPOP_ERR_MEMORY, "amr", "out of memory")) {
        free(mean);
        return 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, mean, (int)count, MPI_DOUBLE, MPI_SUM, epop_world());
    FILE *file = rank_here() == 0 ? fopen(s->options.meshes, "a") : NULL;
    for (int64_t i = 0; file && i < count; i++) {
        spot_t spot = mesh_spot(&s->mesh, i);
        fprintf(file, "%" PRId64 "\t%d\t%" PRId64 "\t%" PRId64 "\t%d\t%.17g\n", s->step, spot.level, spot.x, spot.y,
                s->mesh.curve.owner[i], mean[i]);
    }
    free(mean);
    return rank_here() == 0 ? close_file(file, s->options.meshes, text, size) : 0;
}

int output_step(const solver_t *s, int64_t asked)
{
    char text[512] = "";
    int failed = 0;
    if (s->options.log)
        failed = write_line(s, asked, text, sizeof text);
    if (s->options.meshes && s->step % s->options.each == 0)
        failed |= write_mesh(s, text, sizeof text);
    return s->options.log || s->options.meshes ? agree_on_error(epop_world(), failed, "amr", text) : 0;
}

/* Of all cells and their places, the same on any number of ranks. */
static uint64_t checksum(const solver_t *s)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < s->count; i++)
        for (int c = 0; c < CELLS * CELLS; c++) {
            uint64_t bits;
            memcpy(&bits, &s->blocks[i].u[c], sizeof bits);
            bits ^= (uint64_t)(s->mesh.leaves[s->blocks[i].place] * CELLS * CELLS + c) * UINT64_C(0x9e3779b97f4a7c15);
            bits = (bits ^ bits >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
            sum += bits ^ bits >> 32;
        }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, epop_world());
    return sum;
}

void output_report(const solver_t *s, int64_t resizes, int64_t balances)
{
    double mass = solver_mass(s);
    uint64_t sum = checksum(s);
    if (rank_here() != 0)
        return;
    printf("{\"steps\": %" PRId64 ", \"blocks\": %" PRId64 ", \"ranks\": %d, \"resizes\": %" PRId64
           ", \"balances\": %" PRId64 ", \"deals\": %" PRId64
           ", \"mass\": %.15f, \"drift\": %.1e, \"checksum\": \"%016" PRIx64 "\"}\n",
           s->step, s->mesh.curve.count, s->borders.size, resizes, balances, s->deals, mass, mass / s->mass - 1, sum);
    fflush(stdout);
}
