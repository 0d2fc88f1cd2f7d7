/*
 * A program that packs what it describes, in its pack block; or, without one, in an adapt block of its own alone.
 *     packed FILE [fault=N]
 * It ends when FILE is there. With fault=N pack returns that on rank 0. EPOP_TEST_PACKED=itself: no pack block.
 */
#include <string.h>

#include "packed.h"

static bool packs_itself;

static int init(int *argc, char ***argv, void **data)
{
    struct box *box = *data = calloc(1, sizeof *box);
    int rank;
    if (!box || *argc < 2 || MPI_Type_contiguous(2, MPI_INT64_T, &box->type) || MPI_Type_commit(&box->type))
        return EPOP_ERR_MEMORY;
    box->until = (*argv)[1];
    MPI_Comm_rank(epop_world(), &rank);
    for (int i = 2; i < *argc; i++)
        if (!strncmp((*argv)[i], "fault=", 6) && rank == 0)
            box->fault = atoi((*argv)[i] + 6);
    return epop_status() == EPOP_NEW ? fill(box) : 0;
}

static int exec(void *data)
{
    step(data);
    return 0;
}

static int loop(void *data)
{
    return goes_on(data);
}

/* As programs were written before there was a pack block. */
static int adapt_packed(void *data)
{
    epop_window_t window;
    int error = epop_adapt_begin(&window);
    if (!error && window.status != EPOP_JOINING)
        error = pack(data);
    if (!error)
        error = epop_redist_described(&window, describe, data);
    if (!error && window.status != EPOP_LEAVING)
        error = unpack(data);
    return error ? error : epop_adapt_commit();
}

static int adapt(void *data)
{
    return packs_itself ? adapt_packed(data) : epop_adapt_described(data);
}

static int tell(void *data)
{
    report(data);
    return 0;
}

static void release(void *data)
{
    struct box *box = data;
    drop(box);
    MPI_Type_free(&box->type);
    free(box);
}

epop_program_t *get_program(void)
{
    const char *how = getenv("EPOP_TEST_PACKED");
    packs_itself = how && !strcmp(how, "itself");
    epop_program_t *program = epop_program_create("packed");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "steps", exec, adapt, loop);
    epop_add_rigid(program, "tell", tell, NULL);
    epop_describe(program, describe);
    epop_rebuild(program, unpack);
    epop_release(program, release);
    if (!packs_itself && epop_pack(program, pack))
        return NULL;
    return program;
}
