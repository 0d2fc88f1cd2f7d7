/*
 * What the program has made of MPI and not freed: communicators, requests, datatypes, groups, operations, windows,
 * infos and sessions, each with the block that made it. Found by observing MPI's functions; no MPI call is made here.
 * All but handles_reset and handles_free: any thread.
 */
#ifndef DEBUG_HANDLES_H
#define DEBUG_HANDLES_H

#include <stdint.h>

#include "driver/debug/contract.h"
#include "interpose/interpose.h"

enum handle_kind {
    HANDLE_COMM,
    HANDLE_REQUEST,
    HANDLE_TYPE,
    HANDLE_GROUP,
    HANDLE_OP,
    HANDLE_WIN,
    HANDLE_INFO,
    HANDLE_SESSION,
    HANDLE_KINDS
};

#define ROOT_NONE (-1)

struct handle {
    enum handle_kind kind;
    uintptr_t value; /* MPICH's handles are numbers, those of MPI's standard interface are pointers */
    int root; /* of communicators and requests, and of groups of process sets: the number of the world that they come
                 from, or ROOT_NONE */
    char set[64]; /* the process set that it is of; "": of none */
    enum interpose_function made_by;
    epop_position_t position; /* and where that was */
    epop_block_t block;
    int64_t run; /* the block's number among all that ran in this process */
};

/* The first of a life of this process: forgets all. */
void handles_reset(int elements);
void handles_free(void);

void handles_add(const struct place *place, enum handle_kind kind, uintptr_t value, int root,
                 enum interpose_function made_by);
/* The one made last with this value is of a process set, in that world. */
void handles_set(enum handle_kind kind, uintptr_t value, int root, const char *set);
/* The one made last of those with this value; nothing happens if there is none. */
void handles_remove(enum handle_kind kind, uintptr_t value);
/* Likewise, a copy; false: there is none. */
bool handles_find(enum handle_kind kind, uintptr_t value, struct handle *copy);

/* A block has ended: has it left more behind than before, too often in a row? */
void handles_check_growth(const struct debug *debug);
/* The walk has ended: what several runs of a block have left behind each. */
void handles_check_end(void);
/* This process leaves. */
void handles_check_leaving(const struct debug *debug);
/* Communicators and requests of world `root` and those before it, which is about to go, or has gone. */
void handles_check_world(const struct debug *debug, int root, const char *when);

#endif
