/* Messages of any length between ranks: several are under way, and all are waited for. */
#ifndef EPOP_CHECKPOINT_MEMORY_SEND_H
#define EPOP_CHECKPOINT_MEMORY_SEND_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct memory_sends {
    MPI_Request *requests;
    size_t room;
    int count;
};

/* Room for so many messages more, each way counted, of so many bytes in all. 0, or -1: out of memory. */
int memory_sends_room(struct memory_sends *sends, int64_t messages, int64_t bytes);
void memory_send(struct memory_sends *sends, MPI_Comm comm, int to, const void *bytes, int64_t size);
void memory_receive(struct memory_sends *sends, MPI_Comm comm, int from, void *bytes, int64_t size);
void memory_sends_wait(struct memory_sends *sends);
/* MPI_Allgather of bytes, without spinning. */
void memory_gather(MPI_Comm comm, const void *own, int bytes, void *all);
void memory_sends_free(struct memory_sends *sends);

#endif
