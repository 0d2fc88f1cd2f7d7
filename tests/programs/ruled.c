/* Size rules, a preferred size, progress and a finalizer. */
#include "parts.h"

static void progress(void *data, epop_progress_t *progress)
{
    (void)data;
    progress->bound = 1;
}

epop_program_t *get_program(void)
{
    static const epop_sizes_t squares = {
        .kind = EPOP_SIZE_SQUARE, .max = 16, .preferred = 9, .scaling = EPOP_SCALING_WEAK};
    epop_program_t *program = epop_program_create("ruled");
    program->sizes = (epop_sizes_t){.kind = EPOP_SIZE_MULTIPLE, .factor = 2};
    epop_add_init(program, "start", plain_init);
    int square = epop_add_elastic(program, "square", plain_block, plain_block, plain_block);
    program->elements[square].sizes = &squares;
    program->elements[square].progress = progress;
    program->finalizer = epop_add_rigid(program, "report", plain_block, NULL);
    return program;
}
