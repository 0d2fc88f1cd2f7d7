/* Tries what the MPI library can do, each thing in a function of its own, and prints the answer. */
#include "driver/epop/probe_mpi.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "runtime/backends/device.h"

static int rank, size;

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Prints the answer to one question; the reason is the last line of MPI's own text, the one closest to the cause. */
static int print_answer(const char *thing, int error, double begin)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (error == MPI_SUCCESS) {
        printf("%s yes, in %.1f ms\n", thing, 1e3 * (MPI_Wtime() - begin));
        return 0;
    }
    MPI_Error_string(error, text, &length);
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = 0;
    const char *line = strrchr(text, '\n');
    printf("%s no: %s\n", thing, line ? line + 1 : text);
    return 0;
}

static int try_version(void)
{
    struct device device = device_read();
    if (rank == 0)
        printf("library %s, device %s\n", device.library, device.name);
    return 0;
}

static int try_threads(int provided)
{
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    static const char *const names[] = {"single", "funneled", "serialized", "multiple"};
    for (int i = 0; i < 4 && rank == 0; i++) {
        if (levels[i] == provided)
            printf("threads %s\n", names[i]);
    }
    return 0;
}

/* Both sides of a new connection: a message from one to the other, and the end of it. */
static int talk_over(MPI_Comm other, int receiver)
{
    MPI_Comm both;
    int sum = 0, one = 1, error = MPI_Intercomm_merge(other, receiver, &both);
    if (error != MPI_SUCCESS)
        return error;
    error = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, both);
    if (error == MPI_SUCCESS && sum < 2)
        error = MPI_ERR_COMM;
    MPI_Comm_free(&both);
    MPI_Comm_disconnect(&other);
    return error;
}

static int try_spawn(char *self, char *arguments[])
{
    double begin = MPI_Wtime();
    MPI_Comm children;
    int error = MPI_Comm_spawn(self, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    if (error == MPI_SUCCESS)
        error = talk_over(children, 0);
    return rank == 0 ? print_answer("spawn", error, begin) : 0;
}

static int talk_to_parent(void)
{
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    return parent == MPI_COMM_NULL || talk_over(parent, 1) != MPI_SUCCESS;
}

/* Prints "port NAME" when it can be connected to, or the answer when no port can be opened. */
static int try_accept(void)
{
    char port[PORT_MOST];
    MPI_Comm other;
    int error = rank == 0 ? port_open(port) : MPI_SUCCESS;
    MPI_Bcast(&error, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (error != MPI_SUCCESS)
        return rank == 0 ? print_answer("connect", error, 0) : 0;
    if (rank == 0) {
        printf("port %s\n", port);
        fflush(stdout);
    }
    error = MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
    if (error == MPI_SUCCESS)
        error = talk_over(other, 0);
    if (error == MPI_SUCCESS && rank == 0)
        MPI_Close_port(port);
    return error != MPI_SUCCESS;
}

static int try_connect(const char *port)
{
    double begin = MPI_Wtime();
    MPI_Comm other;
    int error = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
    if (error == MPI_SUCCESS)
        error = talk_over(other, 1);
    return rank == 0 ? print_answer("connect", error, begin) : 0;
}

static int try_files(const char *path)
{
    MPI_File file;
    int value = 7 + rank, read = 0;
    double begin = MPI_Wtime();
    int error = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                              MPI_INFO_NULL, &file);
    if (error == MPI_SUCCESS)
        error = MPI_File_write_at_all(file, (MPI_Offset)sizeof value * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS)
        error = MPI_File_read_at_all(file, (MPI_Offset)sizeof value * rank, &read, 1, MPI_INT, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS && read != value)
        error = MPI_ERR_IO;
    if (error == MPI_SUCCESS)
        error = MPI_File_close(&file);
    return rank == 0 ? print_answer("files", error, begin) : 0;
}

/* How much of a core rank 1 uses while it waits half a second for a message. */
static int try_wait(void)
{
    int message = 0;
    struct timespec half = {0, 500000000};
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        nanosleep(&half, NULL);
        return MPI_Send(&message, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    double begin = MPI_Wtime(), cpu = cpu_seconds();
    MPI_Recv(&message, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int percent = (int)(100 * (cpu_seconds() - cpu) / (MPI_Wtime() - begin) + 0.5);
    printf("waiting %s: %d %% of a core\n", percent < 10 ? "sleeps" : "spins", percent);
    return 0;
}

int probe_mpi_begin(void)
{
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    return provided;
}

int probe_mpi(const char *thing, const char *argument, char *self, char *child[], int provided)
{
    if (!strcmp(thing, "version"))
        return try_version();
    if (!strcmp(thing, "threads"))
        return try_threads(provided);
    if (!strcmp(thing, "spawn"))
        return try_spawn(self, child);
    if (!strcmp(thing, "child"))
        return talk_to_parent();
    if (!strcmp(thing, "accept"))
        return try_accept();
    if (!strcmp(thing, "connect") && argument)
        return try_connect(argument);
    if (!strcmp(thing, "files") && argument)
        return try_files(argument);
    if (!strcmp(thing, "wait") && size == 2)
        return try_wait();
    return 2;
}
