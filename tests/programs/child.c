/*
 * Every process starts a child in INIT, which stays: child ITERATIONS HOW... Of HOW: fork (no exec), orphan (of a
 * parent that has ended), setsid, ignore (SIGTERM), quiet (its output leads elsewhere). Rank 0 prints "running" when
 * all have.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <epop/epop.h>

static int iterations, limit;

static int asked(char **words, const char *word)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

static void redirect(void)
{
    int nowhere = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++)
        dup2(nowhere, fd);
}

static void be_child(char **how) __attribute__((noreturn));
static void be_child(char **how)
{
    if (asked(how, "orphan") && fork() != 0)
        _exit(0);
    if (asked(how, "setsid"))
        setsid();
    if (asked(how, "ignore"))
        signal(SIGTERM, SIG_IGN);
    if (asked(how, "quiet"))
        redirect();
    if (!asked(how, "fork"))
        execlp("sleep", "sleep", "1000", (char *)NULL);
    for (;;)
        pause();
}

static int start(int *argc, char ***argv, void **data)
{
    (void)data;
    limit = *argc > 1 ? atoi((*argv)[1]) : 1;
    if (fork() == 0)
        be_child(*argv);
    if (asked(*argv, "orphan"))
        while (wait(NULL) > 0) /* as one may who knows of no other children */
            ;
    return 0;
}

static int work(void *data)
{
    int rank;
    (void)data;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Barrier(epop_world());
    if (rank == 0 && iterations == 0) {
        puts("running");
        fflush(stdout);
    }
    usleep(1000);
    iterations++;
    return 0;
}

static int adapt(void *data)
{
    (void)data;
    epop_window_t window;
    int result = epop_adapt_begin(&window);
    if (result == EPOP_OK)
        result = epop_redist_replicated(&window, &iterations, 1, MPI_INT);
    return result == EPOP_OK ? epop_adapt_commit() : result;
}

static int more(void *data)
{
    (void)data;
    return iterations < limit;
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("child");
    epop_add_init(program, "start", start);
    epop_add_elastic(program, "work", work, adapt, more);
    return program;
}
