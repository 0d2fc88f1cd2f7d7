/*
 * A muster: where the ranks of one host compare what they claim in a roll call (claim.h), in memory that they share, so
 * that nobody else has to hear of claims that are alike. Rounds have numbers, from 0 on, and each ends in one of two
 * ways, the same for all ranks: all have come with the same hash, or the claims of that round are told to the
 * coordinator, by every rank, as one differed, came too late, or had to be told anyhow. Where ranks are on other hosts,
 * too, all of this host being alike is not enough: the rank with place 0 asks the coordinator, and ends the round. No
 * MPI here.
 *
 * The memory has no name in any file system, so nothing is left of it when its processes have ended, however they do.
 */
#ifndef EPOP_MEMBER_MUSTER_H
#define EPOP_MEMBER_MUSTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MUSTER_MARK   16   /* hexadecimal digits: whose memory it is */
#define MUSTER_PLACES 4095 /* at most */

struct muster;

enum muster_end {
    MUSTER_OPEN, /* the round has not ended */
    MUSTER_ALIKE,
    MUSTER_TOLD
};

struct muster_share {
    const char *mark;
    int places, place; /* of this rank; who makes the memory has place 0 */
    bool whole;        /* there are no ranks on other hosts */
};

/* *fd: the descriptor, of this process, by which the others find it; it stays open as long as the muster. NULL: it
 * cannot be had. Local. */
struct muster *muster_make(const struct muster_share *share, int *fd);
/* The same in another process of this host: that of the process with this number. NULL: it is not there, or is another
 * one. Local. */
struct muster *muster_find(const struct muster_share *share, pid_t maker, int fd);
void muster_close(struct muster *muster);
const char *muster_mark(const struct muster *muster);

/* ---- The thread that claims: a rank comes to one round after the other, each time by one of these two ---- */

/* With the hash of its claim. */
enum muster_end muster_come(struct muster *muster, uint64_t round, uint64_t hash);
/* This round and those before it, as far as they are open, are to be told. MUSTER_ALIKE if it has ended so already. */
enum muster_end muster_tell(struct muster *muster, uint64_t round);
/* Is this the rank that asks the coordinator, and have all of this host come to the round, alike? */
bool muster_asks(const struct muster *muster, uint64_t round);
/* Waits until it ends, no longer than so many seconds, or until somebody rings, or has since muster_bell. */
enum muster_end muster_wait(struct muster *muster, uint64_t round, uint32_t bell, double seconds);

/* ---- Any thread ---- */

uint32_t muster_bell(const struct muster *muster);
/* Who waits has something to look at. */
void muster_ring(struct muster *muster);
/* The other hosts' ranks have come to this round, too, alike. */
void muster_agree(struct muster *muster, uint64_t round);

#endif
