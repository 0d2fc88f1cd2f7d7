/*
 * Who is in a communicator, by his rank in the world: for the witness (witness.h), which counts by that. One thread at
 * a time.
 */
#ifndef EPOP_ADAPT_TEAM_H
#define EPOP_ADAPT_TEAM_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* This process's part in a collective call. The keys of all who are to make it add up to 0. */
struct team_part {
    bool all;     /* it is over the whole world */
    uint64_t key; /* 0: nobody else is to make it, or one from outside the world */
};

void team_begin(MPI_Comm world);
void team_end(void);
/* It is freed, and MPI may give its handle to another. */
void team_forget(const MPI_Comm *comm);

/* The key of who receives what is sent to that rank of the communicator; 0: none of the world. */
uint64_t team_receiver(MPI_Comm comm, int rank);
/* That of this process. */
uint64_t team_own_key(void);
/* Are all it talks to in the world? */
bool team_is_of_world(MPI_Comm comm);

struct team_part team_of_comm(MPI_Comm comm);
struct team_part team_of_group(MPI_Group group);
struct team_part team_of_window(MPI_Win window);

#endif
