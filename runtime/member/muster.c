/*
 * The ranks of a host meet in shared memory.
 *
 * How each round ends is one atomic word's affair, `ends`: a round follows the other, and whoever takes the word from
 * "round n is next" to "n+1 is next" has settled how n ended, for all. The word counts the rounds that have ended, and
 * how many of the last ones on end were told. That is all that a rank needs which comes late: a round can end alike
 * only when every rank has come to it, so of those that a rank has not seen the end of yet, only the one that it waits
 * in can have ended so. Behind it there are at most as many told ones as a rank may be ahead of another (member.c),
 * which is far less than the word can count.
 *
 * A second word, `come`, has the round, who came to it first, and how many have. A rank compares its hash with that of
 * the first before it is counted; so when all are counted, all are alike. The first may go on and write its next hash
 * there only when the round has ended, and who then sees a difference finds that it has.
 *
 * All atomic operations are sequentially consistent: what they cost is nothing beside the way of a cache line from one
 * core to another.
 */
#include "runtime/member/muster.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/proctree.h"

#define NAME     "epop-muster"
#define SPIN_NS  20000 /* a rank that is waited for is that late at most where all compute alike */
#define LINE     64    /* bytes of a cache line */
#define RUN_BITS 20

/* A rank's place. */
struct place {
    _Alignas(LINE) _Atomic uint64_t hash;
};

/* What is shared. */
struct hall {
    char mark[MUSTER_MARK];
    _Alignas(LINE) _Atomic uint64_t ends; /* rounds that have ended << RUN_BITS | told ones at the end of them */
    _Alignas(LINE) _Atomic uint64_t come; /* round << 24 | who came first << 12 | how many have come */
    _Alignas(LINE) _Atomic uint32_t bell; /* what sleepers sleep on */
    _Atomic uint32_t sleepers;
    struct place places[];
};

struct muster {
    struct hall *hall;
    size_t bytes;
    int fd; /* of who made it, else -1 */
    int places, place;
    bool whole, spins;
    char mark[MUSTER_MARK + 1];
};

/* ---- The memory ---------------------------------------------------------------------------------- */

/* Are there cores for all, so that spinning takes none from who is waited for? Where there are not, ranks sleep at
 * once: with 4 and 8 of them on 2 cores, to yield instead until the others have come took several times as long. */
static bool has_cores(int places)
{
    return places <= sysconf(_SC_NPROCESSORS_ONLN);
}

static bool is_possible(const struct muster_share *s)
{
    return strlen(s->mark) == MUSTER_MARK && s->places >= 1 && s->places <= MUSTER_PLACES && s->place >= 0 &&
           s->place < s->places;
}

static struct muster *new_muster(const struct muster_share *s)
{
    struct muster *m = is_possible(s) ? calloc(1, sizeof *m) : NULL;
    if (!m)
        return NULL;
    *m = (struct muster){.bytes = sizeof(struct hall) + (size_t)s->places * sizeof(struct place),
                         .fd = -1,
                         .places = s->places,
                         .place = s->place,
                         .whole = s->whole,
                         .spins = has_cores(s->places)};
    strcpy(m->mark, s->mark);
    return m;
}

static bool map_hall(struct muster *m, int fd)
{
    void *map = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    m->hall = map == MAP_FAILED ? NULL : map;
    return m->hall;
}

/* The memory is there before it is written to: a page that cannot be had would be a SIGBUS. */
struct muster *muster_make(const struct muster_share *share, int *fd)
{
    struct muster *m = new_muster(share);
    if (!m)
        return NULL;
    m->fd = memfd_create(NAME, MFD_CLOEXEC);
    if (m->fd < 0 || posix_fallocate(m->fd, 0, (off_t)m->bytes) || !map_hall(m, m->fd)) {
        muster_close(m);
        return NULL;
    }
    memcpy(m->hall->mark, m->mark, MUSTER_MARK);
    *fd = m->fd;
    return m;
}

/* In a container that has its own numbers of processes it may be anything. */
static bool is_of_mark(const struct muster *m, int fd)
{
    char mark[MUSTER_MARK];
    struct stat status;
    return !fstat(fd, &status) && status.st_size == (off_t)m->bytes && pread(fd, mark, sizeof mark, 0) == sizeof mark &&
           !memcmp(mark, m->mark, sizeof mark);
}

struct muster *muster_find(const struct muster_share *share, pid_t maker, int fd)
{
    struct muster *m = new_muster(share);
    int own = m ? proctree_open(maker, fd, "/memfd:" NAME " (deleted)") : -1;
    bool found = own >= 0 && is_of_mark(m, own) && map_hall(m, own);
    if (own >= 0)
        close(own);
    if (found)
        return m;
    muster_close(m);
    return NULL;
}

void muster_close(struct muster *m)
{
    if (!m)
        return;
    if (m->hall)
        munmap(m->hall, m->bytes);
    if (m->fd >= 0)
        close(m->fd);
    free(m);
}

const char *muster_mark(const struct muster *m)
{
    return m->mark;
}

/* ---- Waking, and sleeping ------------------------------------------------------------------------ */

static void futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *limit)
{
    syscall(SYS_futex, word, operation, value, limit, NULL, 0);
}

/* Who is about to sleep has counted itself before it looks: so it sees how the round ended, or is seen here. */
void muster_ring(struct muster *m)
{
    atomic_fetch_add(&m->hall->bell, 1);
    if (atomic_load(&m->hall->sleepers))
        futex(&m->hall->bell, FUTEX_WAKE, INT32_MAX, NULL);
}

static void relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

/* ---- How a round ended --------------------------------------------------------------------------- */

static uint64_t ended(uint64_t ends)
{
    return ends >> RUN_BITS;
}

static uint64_t run_of(uint64_t ends)
{
    return ends & (((uint64_t)1 << RUN_BITS) - 1);
}

static enum muster_end end_of(uint64_t ends, uint64_t round)
{
    if (ended(ends) <= round)
        return MUSTER_OPEN;
    return ended(ends) - run_of(ends) == round + 1 ? MUSTER_ALIKE : MUSTER_TOLD;
}

/* Also where another rank is faster, and the round has ended otherwise. */
static enum muster_end end_alike(struct muster *m, uint64_t round)
{
    uint64_t ends = atomic_load(&m->hall->ends);
    while (ended(ends) == round)
        if (atomic_compare_exchange_weak(&m->hall->ends, &ends, (round + 1) << RUN_BITS)) {
            muster_ring(m);
            return MUSTER_ALIKE;
        }
    return end_of(ends, round);
}

void muster_agree(struct muster *m, uint64_t round)
{
    end_alike(m, round);
}

enum muster_end muster_tell(struct muster *m, uint64_t round)
{
    bool rings = false;
    uint64_t ends = atomic_load(&m->hall->ends), longest = ((uint64_t)1 << RUN_BITS) - 1;
    while (ended(ends) <= round) {
        uint64_t run = run_of(ends) < longest ? run_of(ends) + 1 : longest;
        if (atomic_compare_exchange_weak(&m->hall->ends, &ends, (ended(ends) + 1) << RUN_BITS | run)) {
            rings = true;
            ends = atomic_load(&m->hall->ends);
        }
    }
    if (rings)
        muster_ring(m);
    return end_of(ends, round);
}

/* ---- Coming to a round --------------------------------------------------------------------------- */

#define COME_BITS  12
#define COME_MASK  (((uint64_t)1 << COME_BITS) - 1)
#define ROUND_MASK (((uint64_t)1 << (64 - 2 * COME_BITS)) - 1)

static bool is_of_round(uint64_t come, uint64_t round)
{
    return (come & COME_MASK) && come >> (2 * COME_BITS) == (round & ROUND_MASK);
}

static bool is_full(const struct muster *m, uint64_t come)
{
    return (int)(come & COME_MASK) == m->places;
}

static uint64_t first_come(const struct muster *m, uint64_t round)
{
    return (round & ROUND_MASK) << (2 * COME_BITS) | (uint64_t)m->place << COME_BITS | 1;
}

enum muster_end muster_come(struct muster *m, uint64_t round, uint64_t hash)
{
    struct hall *hall = m->hall;
    uint64_t come = atomic_load(&hall->come), next;
    atomic_store(&hall->places[m->place].hash, hash);
    do {
        enum muster_end end = end_of(atomic_load(&hall->ends), round);
        if (end != MUSTER_OPEN)
            return end;
        bool begun = is_of_round(come, round);
        if (begun && atomic_load(&hall->places[come >> COME_BITS & COME_MASK].hash) != hash)
            return muster_tell(m, round);
        next = begun ? come + 1 : first_come(m, round);
    } while (!atomic_compare_exchange_weak(&hall->come, &come, next));
    if (is_full(m, next) && m->whole)
        return end_alike(m, round);
    if (is_full(m, next))
        muster_ring(m); /* for who asks */
    return end_of(atomic_load(&hall->ends), round);
}

bool muster_asks(const struct muster *m, uint64_t round)
{
    uint64_t come = atomic_load(&m->hall->come);
    return m->place == 0 && !m->whole && is_of_round(come, round) && is_full(m, come);
}

/* ---- Waiting ------------------------------------------------------------------------------------- */

static enum muster_end spin(struct muster *m, uint64_t round, int64_t until, uint32_t bell)
{
    enum muster_end end;
    do {
        for (int i = 0; i < 16; i++)
            relax();
        end = end_of(atomic_load(&m->hall->ends), round);
    } while (end == MUSTER_OPEN && atomic_load(&m->hall->bell) == bell && monotonic_ns() < until);
    return end;
}

static enum muster_end sleep_on(struct muster *m, uint64_t round, double seconds, uint32_t bell)
{
    struct timespec limit = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    atomic_fetch_add(&m->hall->sleepers, 1);
    if (end_of(atomic_load(&m->hall->ends), round) == MUSTER_OPEN)
        futex(&m->hall->bell, FUTEX_WAIT, bell, &limit);
    atomic_fetch_sub(&m->hall->sleepers, 1);
    return end_of(atomic_load(&m->hall->ends), round);
}

uint32_t muster_bell(const struct muster *m)
{
    return atomic_load(&m->hall->bell);
}

enum muster_end muster_wait(struct muster *m, uint64_t round, uint32_t bell, double seconds)
{
    enum muster_end end = end_of(atomic_load(&m->hall->ends), round);
    if (end == MUSTER_OPEN && m->spins)
        end = spin(m, round, monotonic_ns() + SPIN_NS, bell);
    return end == MUSTER_OPEN ? sleep_on(m, round, seconds, bell) : end;
}
