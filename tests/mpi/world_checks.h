/*
 * Is MPI_COMM_WORLD the present world in every kind of MPI function? Collective over it. Each returns how many
 * answers were wrong, and says which on stderr.
 */
#ifndef TESTS_WORLD_CHECKS_H
#define TESTS_WORLD_CHECKS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../expect.h"

typedef struct world_facts {
    MPI_Comm world; /* the present one, as the runtime knows it */
    int rank, size;
} world_facts_t;

static int same_members(MPI_Comm comm, MPI_Comm world)
{
    int result = MPI_UNEQUAL;
    MPI_Comm_compare(comm, world, &result);
    return result == MPI_CONGRUENT;
}

static int error_class(int error)
{
    int class = MPI_ERR_UNKNOWN;
    MPI_Error_class(error, &class);
    return class;
}

static int check_identity(world_facts_t w)
{
    int wrong = 0, rank = -1, size = -1, result = -1, flag = -1, length = 0;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    EXPECT(rank == w.rank && size == w.size);
    MPI_Comm_compare(MPI_COMM_WORLD, w.world, &result);
    EXPECT(result == MPI_IDENT);
    MPI_Comm_compare(w.world, MPI_COMM_WORLD, &result);
    EXPECT(result == MPI_IDENT);
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
    EXPECT(result == MPI_IDENT);
    MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
    EXPECT(flag == 0);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    EXPECT(strcmp(name, "MPI_COMM_WORLD") == 0);
#ifdef MPICH_VERSION /* in the library of MPI's standard interface there is nothing of Fortran */
    EXPECT(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
#else
    EXPECT(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
#endif
    return wrong;
}

static int check_point_to_point(world_facts_t w)
{
    int wrong = 0, right = (w.rank + 1) % w.size, left = (w.rank + w.size - 1) % w.size, got = -1, more = -1;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Sendrecv(&w.rank, 1, MPI_INT, right, 7, &got, 1, MPI_INT, left, 7, MPI_COMM_WORLD, &statuses[0]);
    EXPECT(got == left && statuses[0].MPI_SOURCE == left);
    /* One side by either name. */
    MPI_Isend(&w.rank, 1, MPI_INT, right, 8, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&got, 1, MPI_INT, left, 8, w.world, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    MPI_Send_init(&right, 1, MPI_INT, right, 9, w.world, &requests[0]);
    MPI_Recv_init(&more, 1, MPI_INT, left, 9, MPI_COMM_WORLD, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, statuses);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    EXPECT(got == left && more == w.rank);
    return wrong;
}

static int check_large_counts(world_facts_t w)
{
    int wrong = 0, sum = 0, got = -1, one = 1;
    MPI_Request request;
    MPI_Count count = 0;
    MPI_Status status;
    MPI_Irecv_c(&got, 1, MPI_INT, MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, &request);
    MPI_Send_c(&w.rank, 1, MPI_INT, (w.rank + 1) % w.size, 10, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    MPI_Get_count_c(&status, MPI_INT, &count);
    EXPECT(count == 1 && got == (w.rank + w.size - 1) % w.size);
    MPI_Allreduce_c(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(sum == w.size);
    return wrong;
}

static int check_collectives(world_facts_t w)
{
    int wrong = 0, sum = 0, one = 1, last = w.rank, place = 0;
    int *all = calloc((size_t)w.size, sizeof *all);
    MPI_Request request;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&last, 1, MPI_INT, w.size - 1, MPI_COMM_WORLD);
    MPI_Exscan(&one, &place, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(&w.rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    EXPECT(sum == w.size && last == w.size - 1 && (w.rank == 0 || place == w.rank) && all[w.size - 1] == w.size - 1);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(all);
    return wrong;
}

/* Every way of making a communicator from MPI_COMM_WORLD that takes all its ranks. */
static int check_new_communicators(world_facts_t w)
{
    int wrong = 0, colored = -1, dims[1] = {w.size}, periods[1] = {1}, to = (w.rank + 1) % w.size;
    int from = (w.rank + w.size - 1) % w.size, coordinate = -1, kind = MPI_UNDEFINED;
    MPI_Comm made[7];
    MPI_Group group;
    MPI_Request request;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_dup(MPI_COMM_WORLD, &made[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, w.rank, &made[1]);
    MPI_Comm_create(MPI_COMM_WORLD, group, &made[2]);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &made[3]);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &made[4]);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &made[5]);
    MPI_Comm_idup(MPI_COMM_WORLD, &made[6], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Cart_coords(made[4], w.rank, 1, &coordinate);
    MPI_Topo_test(MPI_COMM_WORLD, &kind);
    EXPECT(coordinate == w.rank && kind == MPI_UNDEFINED);
    for (int i = 0; i < 7; i++) {
        EXPECT(same_members(made[i], w.world));
        MPI_Comm_free(&made[i]);
        EXPECT(made[i] == MPI_COMM_NULL);
    }
    MPI_Comm_split(MPI_COMM_WORLD, w.rank % 2, 0, &made[0]);
    MPI_Comm_size(made[0], &colored);
    EXPECT(colored == (w.size + 1 - w.rank % 2) / 2);
    MPI_Comm_free(&made[0]);
    MPI_Group_free(&group);
    return wrong;
}

/* Of those ranks only that share memory, which some libraries say of none. */
static int check_shared_memory(world_facts_t w)
{
    int wrong = 0, foreign = -1;
    MPI_Comm node;
    MPI_Group of_node, of_world, outside;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, w.rank, MPI_INFO_NULL, &node);
    MPI_Comm_group(node, &of_node);
    MPI_Comm_group(w.world, &of_world);
    MPI_Group_difference(of_node, of_world, &outside);
    MPI_Group_size(outside, &foreign);
    EXPECT(foreign == 0);
    MPI_Group_free(&outside);
    MPI_Group_free(&of_world);
    MPI_Group_free(&of_node);
    MPI_Comm_free(&node);
    return wrong;
}

static int check_groups(world_facts_t w)
{
    int wrong = 0, size = -1, result = -1, mine = -1;
    MPI_Group group, same;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_group(w.world, &same);
    MPI_Group_size(group, &size);
    MPI_Group_rank(group, &mine);
    MPI_Group_compare(group, same, &result);
    EXPECT(size == w.size && mine == w.rank && result == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&same);
    return wrong;
}

/* Two communicators among the parameters: the peers meet in MPI_COMM_WORLD. */
static int check_intercommunicator(world_facts_t w)
{
    int wrong = 0, remote = -1;
    MPI_Comm half, between;
    if (w.size < 2)
        return 0;
    MPI_Comm_split(MPI_COMM_WORLD, w.rank != 0, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, w.rank == 0, 11, &between);
    MPI_Comm_remote_size(between, &remote);
    EXPECT(remote == (w.rank == 0 ? w.size - 1 : 1));
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    return wrong;
}

static int members(MPI_Win win)
{
    MPI_Group group;
    int size = -1;
    MPI_Win_get_group(win, &group);
    MPI_Group_size(group, &size);
    MPI_Group_free(&group);
    return size;
}

static int check_windows(world_facts_t w)
{
    int wrong = 0, *got = malloc(sizeof *got), *memory;
    MPI_Win created, allocated;
    *got = -1;
    MPI_Win_create(got, sizeof *got, sizeof *got, MPI_INFO_NULL, MPI_COMM_WORLD, &created);
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &allocated);
    MPI_Win_fence(0, created);
    MPI_Put(&w.rank, 1, MPI_INT, (w.rank + 1) % w.size, 0, 1, MPI_INT, created);
    MPI_Win_fence(0, created);
    EXPECT(members(created) == w.size && members(allocated) == w.size);
    EXPECT(*got == (w.rank + w.size - 1) % w.size);
    MPI_Win_free(&allocated);
    MPI_Win_free(&created);
    free(got);
    return wrong;
}

/* directory: for the file; NULL leaves MPI-IO out. */
static int check_files(world_facts_t w, const char *directory)
{
    int wrong = 0, size = -1, got = -1;
    char path[500];
    MPI_File file;
    MPI_Group group;
    if (!directory)
        return 0;
    snprintf(path, sizeof path, "%s/interposed", directory);
    wrong += MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &file) != MPI_SUCCESS;
    MPI_File_get_group(file, &group);
    MPI_Group_size(group, &size);
    MPI_File_write_at_all(file, w.rank * (MPI_Offset)sizeof got, &w.rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, w.rank * (MPI_Offset)sizeof got, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
    EXPECT(size == w.size && got == w.rank);
    MPI_Group_free(&group);
    MPI_File_close(&file);
    return wrong;
}

static int check_attributes(world_facts_t w)
{
    int wrong = 0, key, found = 0, *limit = NULL;
    void *value = NULL;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &wrong);
    MPI_Comm_get_attr(w.world, key, &value, &found);
    EXPECT(found && value == &wrong);
    MPI_Comm_delete_attr(w.world, key);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &found);
    EXPECT(!found);
    MPI_Comm_free_keyval(&key);
    EXPECT(key == MPI_KEYVAL_INVALID);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &found);
    EXPECT(found && *limit >= 32767);
    return wrong;
}

static int heard, heard_world;

static void hear(MPI_Comm *comm, int *error, ...)
{
    int result = -1;
    heard = error_class(*error);
    MPI_Comm_compare(*comm, MPI_COMM_WORLD, &result);
    heard_world = result == MPI_IDENT;
}

/* What a call says behind a handler that returns; MPI_SUCCESS from MPICH 5 on. */
static bool says(int result, int class)
{
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 50000000
    return error_class(result) == class;
#else
    return result == MPI_SUCCESS || error_class(result) == class;
#endif
}

static int check_error_handlers(world_facts_t w)
{
    int wrong = 0, buffer = 0;
    MPI_Comm copy = MPI_COMM_WORLD, present = w.world;
    MPI_Errhandler before, of_self, mine;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &of_self);
    MPI_Comm_create_errhandler(hear, &mine);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    MPI_Comm_set_errhandler(MPI_COMM_SELF,
                            mine); /* it gets what belongs to no communicator; up to MPICH 4.1 the world's does */
    heard = heard_world = 0;
    EXPECT(says(MPI_Send(&buffer, 1, MPI_INT, w.size, 0, MPI_COMM_WORLD), MPI_ERR_RANK));
    EXPECT(heard == MPI_ERR_RANK && heard_world);
    heard = 0;
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    EXPECT(heard == MPI_ERR_OTHER);
    EXPECT(says(MPI_Comm_free(&copy), MPI_ERR_COMM) && copy == MPI_COMM_WORLD && heard == MPI_ERR_COMM);
    heard = 0;
    EXPECT(says(MPI_Type_size(MPI_DATATYPE_NULL, &buffer), MPI_ERR_TYPE) && heard == MPI_ERR_TYPE);
    if (w.world != MPI_COMM_WORLD) {
        heard = 0;
        EXPECT(says(MPI_Comm_free(&present), MPI_ERR_COMM) && present == w.world && heard == MPI_ERR_COMM);
        heard = 0;
        EXPECT(says(MPI_Comm_disconnect(&copy), MPI_ERR_COMM) && heard == MPI_ERR_COMM);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, of_self);
    MPI_Errhandler_free(&mine);
    MPI_Errhandler_free(&of_self);
    MPI_Errhandler_free(&before);
    return wrong;
}

/* All of them. */
static inline int check_world(MPI_Comm world, const char *directory)
{
    world_facts_t w = {.world = world};
    MPI_Comm_rank(world, &w.rank);
    MPI_Comm_size(world, &w.size);
    return check_identity(w) + check_point_to_point(w) + check_large_counts(w) + check_collectives(w) +
           check_new_communicators(w) + check_shared_memory(w) + check_groups(w) + check_intercommunicator(w) +
           check_windows(w) + check_files(w, directory) + check_attributes(w) + check_error_handlers(w);
}

#endif
