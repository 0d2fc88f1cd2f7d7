/* The engines there are, and the one that this process's MPI library goes with. */
#include "runtime/launch/engine.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/ending.h"
#include "runtime/hydra/hydra.h"
#include "runtime/hydra/pmi.h"

#ifndef EPOP_MPIEXEC
#define EPOP_MPIEXEC "mpiexec.mpich"
#endif

static int hydra_can_start(struct error *reason)
{
    if (pmi_can_leave())
        return 0;
    return error_set(reason, ERROR_FAILED, "the launcher is not Hydra's mpiexec, by which processes would be started");
}

static bool shows_nothing(void)
{
    return false;
}

static const char *const hydra_variables[] = {
    "PMI_", "PMIX_", "HYDI_", "MPI_LOCAL", "MPIEXEC_", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME=", NULL};

const struct engine engine_hydra = {
    .maker = "MPICH",
    .name = "the launcher of MPICH",
    .mpiexec = EPOP_MPIEXEC,
    .signs = {"PMI_FD", "PMI_PORT", "PMI_RANK"},
    .size = "PMI_SIZE",
    .rank = "PMI_RANK",
    .local_size = "MPI_LOCALNRANKS",
    .local_rank = "MPI_LOCALRANKID",
    .host_option = "-hosts",
    .failure = 255, /* which is -1 */
    .can_leave = pmi_can_leave,
    .finalize = pmi_finalize,
    .failed = hydra_failed,
    .is_alone = hydra_is_alone,
    .can_start = hydra_can_start,
    .options = hydra_options,
    .tether = hydra_tether,
    .launch_by = hydra_launch_by,
    .variables = hydra_variables,
    .end = SIGINT,
    .shows = shows_nothing,
};

static const struct engine *const engines[] = {&engine_hydra, &engine_prrte};
static const struct engine *present = &engine_hydra;

const struct engine *engine_number(size_t i)
{
    return i < sizeof engines / sizeof *engines ? engines[i] : NULL;
}

void engine_for(const char *maker)
{
    present = &engine_hydra; /* for what descends from MPICH, too */
    for (size_t i = 0; engine_number(i); i++)
        if (!strcmp(engine_number(i)->maker, maker))
            present = engine_number(i);
}

const struct engine *engine(void)
{
    return present;
}

bool engine_started_this(void)
{
    for (size_t i = 0; i < sizeof present->signs / sizeof *present->signs; i++)
        if (present->signs[i] && getenv(present->signs[i]))
            return true;
    return false;
}

void engine_prepare(void)
{
    if (present->prepare)
        present->prepare();
}

void engine_alone(void)
{
    if (!present->ends_mpi)
        present->finalize();
}

void engine_done(void)
{
    if (present->ends_mpi)
        present->finalize();
}

void engine_leave(int status)
{
    fflush(NULL);
    present->finalize();
    ending_quit(status);
}
