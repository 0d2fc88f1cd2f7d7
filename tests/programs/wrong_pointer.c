/* Its exec block replaces the data pointer, of which INIT gave it the address (data), or its loop condition changes an
 * element of the program (element); on rank 1, in iteration 3. With any other word it is right. */
#include "scenario.h"

static const char *way = "right";
static void **place;
static int numbers[2];
static epop_program_t *program;

static int init(int *argc, char ***argv, void **data)
{
    way = *argc > 1 ? (*argv)[1] : way;
    place = data;
    *data = numbers;
    return 0;
}

static bool wrong(const char *name)
{
    return !strcmp(way, name) && rank_in(epop_world()) == 1 && numbers[0] == 3;
}

static int work(void *data)
{
    (void)data;
    if (wrong("data"))
        *place = numbers + 1;
    return 0;
}

static int more(void *data)
{
    (void)data;
    if (wrong("element"))
        program->elements[1].name = "other";
    return ++numbers[0] < 5;
}

epop_program_t *get_program(void)
{
    program = epop_program_create("wrong_pointer");
    epop_add_init(program, "start", init);
    epop_add_rigid(program, "work", work, more);
    return program;
}
