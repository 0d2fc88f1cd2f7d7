/* Messages of any length: see memory_send.h. */
#include "runtime/checkpoint/memory_send.h"

#include <stdlib.h>

#include "runtime/base/array.h"
#include "runtime/redist/wait.h"

#define TAG   1
#define CHUNK (INT64_C(1) << 30) /* MPI counts by int */

int memory_sends_room(struct memory_sends *sends, int64_t messages, int64_t bytes)
{
    int64_t wanted = sends->count + messages + bytes / CHUNK;
    return array_reserve(&sends->requests, &sends->room, (size_t)wanted, sizeof *sends->requests);
}

void memory_send(struct memory_sends *sends, MPI_Comm comm, int to, const void *bytes, int64_t size)
{
    for (int64_t at = 0; at < size; at += CHUNK) {
        int count = (int)(size - at < CHUNK ? size - at : CHUNK);
        MPI_Isend((const char *)bytes + at, count, MPI_BYTE, to, TAG, comm, &sends->requests[sends->count++]);
    }
}

void memory_receive(struct memory_sends *sends, MPI_Comm comm, int from, void *bytes, int64_t size)
{
    for (int64_t at = 0; at < size; at += CHUNK) {
        int count = (int)(size - at < CHUNK ? size - at : CHUNK);
        MPI_Irecv((char *)bytes + at, count, MPI_BYTE, from, TAG, comm, &sends->requests[sends->count++]);
    }
}

void memory_sends_wait(struct memory_sends *sends)
{
    redist_wait_all(sends->count, sends->requests);
    sends->count = 0;
}

void memory_gather(MPI_Comm comm, const void *own, int bytes, void *all)
{
    MPI_Request request;
    MPI_Iallgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm, &request);
    redist_wait(&request);
}

void memory_sends_free(struct memory_sends *sends)
{
    free(sends->requests);
    *sends = (struct memory_sends){0};
}
