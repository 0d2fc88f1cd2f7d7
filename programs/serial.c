/*
 * A program without MPI: the square root of a number by Heron's method. It includes <epop/program.h> alone and
 * runs without a launcher:
 *
 *     epop ./serial.so 2
 */
#include <epop/program.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* All that a program remembers from block to block is behind its one data pointer. */
struct root {
    double number, guess, before;
    int steps;
};

static int init(int *argc, char ***argv, void **data)
{
    double number = *argc > 1 ? atof((*argv)[1]) : 2.0;
    if (!(number > 0)) {
        fprintf(stderr, "serial: the argument must be a positive number\n");
        return 1; /* every block's non-zero result ends the program */
    }
    struct root *root = malloc(sizeof *root);
    if (!root)
        return EPOP_ERR_MEMORY;
    *root = (struct root){.number = number, .guess = number};
    *data = root;
    return 0;
}

static int improve(void *data)
{
    struct root *root = data;
    root->before = root->guess;
    root->guess = (root->guess + root->number / root->guess) / 2;
    root->steps++;
    return 0;
}

static int not_there_yet(void *data)
{
    const struct root *root = data;
    return fabs(root->guess - root->before) > 1e-15 * root->guess;
}

static int report(void *data)
{
    const struct root *root = data;
    printf("the square root of %g is %.15g (%d steps)\n", root->number, root->guess, root->steps);
    free(data);
    return 0;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("serial");
    epop_add_init(program, "start", init);
    epop_add_rigid(program, "improve", improve, not_there_yet); /* repeats while its loop condition says so */
    epop_add_rigid(program, "report", report, NULL);            /* runs once */
    return program;
}
