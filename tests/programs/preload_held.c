/*
 * No program, but a library to be preloaded: from the start of epop a thread holds a lock for half a second, which
 * MPI_Init_thread takes, too. So do libraries below MPI: who forks and goes on in the child has it held for ever.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t held;

static void *hold(void *unused)
{
    pthread_mutex_lock(&lock);
    sem_post(&held);
    usleep(500000);
    pthread_mutex_unlock(&lock);
    return unused;
}

__attribute__((constructor)) static void begin(void)
{
    pthread_t thread;
    sem_init(&held, 0, 0);
    if (strcmp(program_invocation_short_name, "epop") || pthread_create(&thread, NULL, hold, NULL))
        return;
    pthread_detach(thread);
    sem_wait(&held);
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    void *found = dlsym(RTLD_NEXT, "PMPI_Init_thread");
    int (*real)(int *, char ***, int, int *);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    memcpy(&real, &found, sizeof found); /* ISO C converts no object pointer into a function's */
    return real(argc, argv, required, provided);
}
