/* The blocks of the program that this process runs. */
#include "runtime/describe/program.h"

#include "epop_api/program.h"
#include "interpose/interpose.h"
#include "runtime/base/say.h"
#include "runtime/describe/look.h"
#include "runtime/world/world.h"

struct describe_program describe_program;

void describe_program_begin(const epop_program_t *program, void *data, bool joining)
{
    struct program_blocks blocks = epop__program_blocks(program);
    describe_program = (struct describe_program){.program = program,
                                                 .describe = blocks.describe,
                                                 .rebuild = blocks.rebuild,
                                                 .release = blocks.release,
                                                 .pack = blocks.pack,
                                                 .data = data,
                                                 .looked = joining,
                                                 .whole = !joining};
}

/* Without the data that its values lead to, the block may not be asked; but then nothing is there to be freed. */
static void free_described(const struct describe_program *p)
{
    epop_description_t d;
    struct error error;
    if (!p->describe || !p->whole)
        return;
    if (describe_run(&d, DESCRIBE_LIST, p->describe, p->data, NULL, 0, &error))
        say_line("the program's data is not freed: %s", error.text);
    else
        describe_release(&d);
    describe_free(&d);
}

void describe_program_release(void)
{
    struct describe_program p = describe_program;
    describe_program = (struct describe_program){.program = NULL};
    if (!p.program)
        return;
    free_described(&p);
    INTERPOSE_ASIDE;
    if (p.release)
        p.release(p.data);
}

int describe_program_look_at_form(struct error *error)
{
    const struct describe_program *p = &describe_program;
    struct error unused;
    return p->describe && p->whole ? describe_look(world.comm, LOOK_FORM, p->describe, p->data, error, &unused) : 0;
}

int describe_program_look_at_data(bool moved, struct error *error, struct error *hint)
{
    struct describe_program *p = &describe_program;
    bool first = p->describe && !p->looked;
    p->looked = true;
    hint->code = ERROR_NONE;
    if (!first || !moved || p->pack)
        return 0;
    return describe_look(world.comm, LOOK_DATA, p->describe, p->data, error, hint);
}

int describe_program_pack(void)
{
    if (!describe_program.pack || !describe_program.whole)
        return EPOP_OK;
    INTERPOSE_ASIDE;
    int result = describe_program.pack(describe_program.data);
    if (result != EPOP_OK)
        say_line("the pack block returned %d on rank %d", result, world.rank);
    return result;
}

int describe_program_rebuild(void)
{
    if (!describe_program.rebuild)
        return EPOP_OK;
    world_ahead();
    INTERPOSE_ASIDE;
    int result = describe_program.rebuild(describe_program.data);
    world_back();
    if (result != EPOP_OK)
        say_line("the rebuild block returned %d on rank %d", result, world.rank);
    return result;
}
