/*
 * No program, but a library to be preloaded into joining processes: one call of MPI goes wrong there.
 *
 *     EPOP_TEST_FAULT=redistribution       in any process: a bit of each message of a redistribution tips over
 *     EPOP_TEST_FAULT=FUNCTION:WHAT:RANK   in that function (open, accept, connect, merge or dup), on that rank of the
 * launch: kill, stop, exit, abort (as MPI does after an error that it calls fatal), late (1 s), callN (kill, at the
 * N-th time that accept reads or writes), leave (a file in shared memory, as MPICH's other devices do, and kill), error
 * (of MPI; merge alone), or nothing
 *
 *     EPOP_TEST_WHILE=FILE                 only as long as that is there
 *     EPOP_TEST_LEFT=FILE                  in which leave says where its file is: what it printed might be lost with it
 */
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* Of this thread: reads and writes until it is killed; 0: it is not. */
static _Thread_local int calls_left;

static _Thread_local bool errs;

static void count_call(void)
{
    if (calls_left && --calls_left == 0)
        raise(SIGKILL);
}

static void leave_file(void)
{
    char path[] = "/dev/shm/mpich_shar_tmpXXXXXX";
    int fd = mkstemp(path);
    FILE *said = fopen(getenv("EPOP_TEST_LEFT"), "w");
    if (fd < 0 || ftruncate(fd, 4096) || mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED)
        abort();
    close(fd);
    if (!said || fputs(path, said) < 0 || fclose(said))
        abort();
    raise(SIGKILL);
}

static void fault(const char *function)
{
    char where[16], what[16];
    int rank, mine;
    const char *text = getenv("EPOP_TEST_FAULT");
    const char *file = getenv("EPOP_TEST_WHILE");
    PMPI_Comm_rank(MPI_COMM_WORLD, &mine); /* of the launch */
    if (file && access(file, F_OK))
        return;
    if (!text || sscanf(text, "%15[^:]:%15[^:]:%d", where, what, &rank) != 3 || rank != mine || strcmp(where, function))
        return;
    if (!strcmp(what, "kill"))
        raise(SIGKILL);
    if (!strcmp(what, "stop"))
        raise(SIGSTOP);
    if (!strcmp(what, "exit"))
        exit(9);
    if (!strcmp(what, "abort"))
        PMPI_Abort(MPI_COMM_WORLD, 9);
    if (!strcmp(what, "leave"))
        leave_file();
    if (!strcmp(what, "late"))
        sleep(1);
    errs = !strcmp(what, "error");
    sscanf(what, "call%d", &calls_left);
}

/* ISO C converts no object pointer into a function's. */
#define THE_REAL(pointer, name)                                                                                        \
    do {                                                                                                               \
        void *found = dlsym(RTLD_NEXT, name);                                                                          \
        memcpy(&(pointer), &found, sizeof found);                                                                      \
    } while (0)

int PMPI_Open_port(const MPI_Info info, char *port)
{
    int (*real)(MPI_Info, char *);
    THE_REAL(real, "PMPI_Open_port");
    fault("open");
    return real(info, port);
}

int PMPI_Comm_accept(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made)
{
    int (*real)(const char *, MPI_Info, int, MPI_Comm, MPI_Comm *);
    THE_REAL(real, "PMPI_Comm_accept");
    fault("accept");
    int result = real(port, info, root, comm, made);
    calls_left = 0;
    return result;
}

int PMPI_Comm_connect(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made)
{
    int (*real)(const char *, MPI_Info, int, MPI_Comm, MPI_Comm *);
    THE_REAL(real, "PMPI_Comm_connect");
    fault("connect");
    return real(port, info, root, comm, made);
}

int PMPI_Intercomm_merge(MPI_Comm inter, int high, MPI_Comm *made)
{
    int (*real)(MPI_Comm, int, MPI_Comm *);
    THE_REAL(real, "PMPI_Intercomm_merge");
    fault("merge");
    if (errs)
        PMPI_Comm_call_errhandler(inter, MPI_ERR_INTERN);
    return real(inter, high, made);
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    int (*real)(MPI_Comm, MPI_Comm *);
    THE_REAL(real, "PMPI_Comm_dup");
    fault("dup");
    return real(comm, made);
}

/* REDIST_TAG of runtime/redist/exchange.h */
enum { REDISTRIBUTION = 32001 };

static void spoil(const void *data, int tag)
{
    const char *text = getenv("EPOP_TEST_FAULT");
    if (tag == REDISTRIBUTION && text && !strcmp(text, "redistribution"))
        *(unsigned char *)data ^= 1;
}

int PMPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    int (*real)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    THE_REAL(real, "PMPI_Isend");
    spoil(data, tag);
    return real(data, count, type, to, tag, comm, request);
}

int PMPI_Issend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    int (*real)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    THE_REAL(real, "PMPI_Issend");
    spoil(data, tag);
    return real(data, count, type, to, tag, comm, request);
}

/* ---- What MPI reads and writes with ------------------------------------------------------- */

ssize_t readv(int fd, const struct iovec *parts, int count)
{
    ssize_t (*real)(int, const struct iovec *, int);
    THE_REAL(real, "readv");
    count_call();
    return real(fd, parts, count);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    ssize_t (*real)(int, const struct iovec *, int);
    THE_REAL(real, "writev");
    count_call();
    return real(fd, parts, count);
}

ssize_t read(int fd, void *data, size_t size)
{
    ssize_t (*real)(int, void *, size_t);
    THE_REAL(real, "read");
    count_call();
    return real(fd, data, size);
}

ssize_t write(int fd, const void *data, size_t size)
{
    ssize_t (*real)(int, const void *, size_t);
    THE_REAL(real, "write");
    count_call();
    return real(fd, data, size);
}
