/*
 * The same solver without malleability, to compare with: its ranks stay those that mpiexec has started.
 *     mpiexec.mpich -n 4 amr_rigid [options of amr.so]
 */
#include <stdio.h>

#include "amr/output.h"
#include "amr/solver.h"
#include "common/agree.h"

#define FAILED 1 /* all ranks know it, and it was said */

static int run(solver_t *solver)
{
    int error = solver_create(solver);
    if (!error)
        error = solver_start(solver);
    while (!error && solver->step < solver->options.steps) {
        error = solver_step(solver);
        if (!error)
            error = output_step(solver, solver->borders.size);
    }
    if (!error)
        output_report(solver, 0, 0);
    return error;
}

int main(int argc, char **argv)
{
    static solver_t solver = {.type = MPI_DATATYPE_NULL};
    char text[512];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int error = options_parse(&solver.options, argc, argv, text, sizeof text) ? FAILED : 0;
    if (error)
        agree_on_error(MPI_COMM_WORLD, error, "amr_rigid", text);
    else if (!solver.options.help)
        error = run(&solver);
    else if (rank == 0)
        options_usage();
    if (error && error != FAILED) { /* of this rank alone */
        fprintf(stderr, "amr_rigid: %s\n", epop_result_text(error));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    solver_free(&solver);
    MPI_Finalize();
    return error;
}
