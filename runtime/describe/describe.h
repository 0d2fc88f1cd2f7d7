/*
 * Descriptions: what a describe block lists, and the kinds of entries. A kind is a table of functions (struct kind);
 * resize, checkpoint, restart and audit know no kinds, only this table.
 */
#ifndef EPOP_DESCRIBE_DESCRIBE_H
#define EPOP_DESCRIBE_DESCRIBE_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "epop/describe.h"
#include "runtime/base/error.h"
#include "runtime/describe/members.h"
#include "runtime/describe/route.h"
#include "runtime/redist/agree.h"
#include "runtime/redist/plan.h"

struct described;

/* What a description is for. */
enum describe_mode {
    DESCRIBE_LIST, /* the data is there: collects */
    DESCRIBE_FILL  /* it is not: values are copied in as they are named, from description->values; parts are to come */
};

/* The function that is named in lines on stderr. */
#define DESCRIBE_FUNCTION "epop_redist_described"

/* ---- Data in files ------------------------------------------------------------------------------ */

/*
 * A part of an array in the order in which files have it: `count` consecutive elements from `first` on, of extent[0] *
 * ... elements in all (the last dimension is the fastest). Every rank has one part of each slab, in the order of the
 * ranks, without gaps or overlaps.
 */
#define SLAB_DIMS 8
struct slab {
    char name[256];    /* the entry's, or entry/part where it has several ("A/starts") */
    MPI_Datatype type; /* the elements lie one extent of it apart */
    int dims;
    int64_t extent[SLAB_DIMS];
    int64_t first, count;
    void *data; /* count elements */
    bool owned; /* data is to be freed with the slab */
};

/* Where slabs are read from. All ranks call the same in the same order: collective over the communicator that the
 * reader was made with. */
struct slab_reader {
    void *context;
    /* Sets dims and extent of the slab named slab->name. 0, or -1 with text, on all ranks alike. */
    int (*shape)(void *context, struct slab *slab, struct error *error);
    /* Reads slab->count elements from slab->first on into slab->data, which has the room. 0, or -1 on all ranks. */
    int (*read)(void *context, struct slab *slab, struct error *error);
};

/* ---- Kinds -------------------------------------------------------------------------------------- */

/*
 * One way for data to be laid out. `window` is the open one, or a still one (describe_still) in which nobody comes or
 * goes. All but terms, bytes and release are collective over window->all. Faults are told as in runtime/redist: the
 * same result on every rank, with one line on stderr.
 */
struct kind {
    const char *word; /* "values", "array", "matrix", ... as messages and files name it */
    bool divides;     /* a balance makes it anew, by the loads of the ranks */
    bool one_slab;    /* save gives one, of the entry's name */
    /* Does what the program says of its members fit? NULL, or why not. NULL: they have no names. Local. */
    const char *(*fits)(const struct described *entry, const struct members *members);
    /* What has to be the same on all ranks. Local. */
    void (*terms)(const struct described *entry, redist_terms *terms);
    /* From the layout of the old ranks to that of the new ones; leaving ranks have NULL afterwards. Allocates on
     * joining ranks. NULL: nothing moves (values). EPOP_OK or an EPOP_ERR_. */
    int (*move)(struct described *entry, const epop_window_t *window);
    /* Allocates this rank's part by the layout of the new ranks, all bytes 0, instead of what was there: EPOP_SCRATCH.
     * NULL: the kind cannot be scratch. Local. */
    int (*allocate)(struct described *entry, int rank, int size);
    /* This rank's part as slabs, at most `most` of them; how many there are, or -1. What a slab has is borrowed, or
     * made and `owned`. `window` is a still one. Not called for scratch. */
    int (*save)(struct described *entry, const epop_window_t *window, struct slab *slabs, int most,
                struct error *error);
    /* The opposite, at a restart: the part is allocated and read. 0, or -1 on all ranks. */
    int (*load)(struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                struct error *error);
    /* Adds up, for the debug driver, a count and a checksum of this rank's elements that depend on the global index and
     * the content alone, so that the sums over all ranks are the same at any size. Local. */
    void (*sum)(const struct described *entry, int rank, int size, int64_t *count, uint64_t *sum);
    /* Bytes of this rank's part. Local. */
    int64_t (*bytes)(const struct described *entry, int rank, int size);
    /* Frees this rank's part. Local. */
    void (*release)(struct described *entry);
    /* Frees what the layout points to; the layout itself goes with the entry. NULL: nothing. Local. */
    void (*forget)(struct described *entry);
    /* For constant data that moves ahead of the window. NULL: this kind moves in it. */
    const struct route_kind *route;
};

extern const struct kind kind_values, kind_array, kind_matrix, kind_replicated;
extern const struct kind kind_blocks; /* N-D blocks with ghosts */
extern const struct kind kind_cuts, kind_csr, kind_items, kind_partition, kind_owned;

/* ---- Entries, and the list of them -------------------------------------------------------------- */

/* What an entry that is a distribution itself was before the window, and is after it: the same until it has moved. */
struct described_cuts {
    const int64_t *starts; /* the program's, by which it says that an array is dealt out so */
    epop_dist_t before, after;
    bool known; /* ahead of the window: both are */
};

/* One entry. What a kind needs besides the first lines it keeps in `layout`, which it allocates (freed with free()). */
struct described {
    const struct kind *kind;
    const epop_description_t *list; /* that it stands in */
    char *name;
    unsigned flags;
    void **local;      /* the address of the program's pointer; of values: NULL */
    MPI_Datatype type; /* of the elements */
    void *values;      /* values; of cuts and partitions what has to be told before their data comes */
    size_t value_bytes;
    struct members members;            /* what the program calls what it consists of; none: it says nothing */
    void *layout;                      /* the kind's own */
    const struct described_cuts *cuts; /* in its layout; NULL: it is no distribution */
    const void *original;              /* its part where *local is NULL (epop_describe_original) */
    bool ahead;                        /* its new part came ahead of the window: move has nothing to do */
    int64_t ahead_bytes;               /* of it, those that came from other ranks */
    struct described_sum {
        int64_t count;
        uint64_t sum;
    } was; /* what this rank had before the move, for the audit */
};

struct epop_description {
    enum describe_mode mode;
    struct described *entries;
    int count, capacity;
    struct error error; /* the first fault of the block */
    bool of_form;       /* it is one whatever the data is: of a name, a flag, an address */
    /* DESCRIBE_FILL: the values of all entries of the source, as describe_values_pack made them; what is left of it. */
    const char *values;
    size_t value_bytes;
    struct described_array *arrays; /* those of Fortran (allocatable.h) */
    int array_count;
};

typedef void describe_block(void *data, epop_description_t *d);

/* Runs the block; the description is freed with describe_free. For DESCRIBE_FILL the values stay the caller's. 0, or
 * -1 with text that names the entry. Local. */
int describe_run(epop_description_t *d, enum describe_mode mode, void (*block)(void *, epop_description_t *),
                 void *data, const char *values, size_t value_bytes, struct error *error);
void describe_free(epop_description_t *d);
/* Of a process that is to join, and has only looked: it is told again in the window. Frees what the program was given.
 * Local. */
void describe_untell(epop_description_t *d);

/* For the epop_describe_ functions: a new entry, whose `layout` is a copy of `bytes` bytes; NULL where one was refused
 * (the fault is kept). Local. */
struct described *describe_add(epop_description_t *d, const struct kind *kind, const char *name, void *local,
                               MPI_Datatype type, unsigned flags, const void *layout, size_t bytes);
/* What the ranks have to call its members alike by. Local. */
int64_t describe_members_hash(const struct described *entry);
/* Keeps a fault of the entry about to be described, if there was none before. */
void describe_refuse(epop_description_t *d, const char *name, const char *why);

/* Copies the originals of parts that did not come ahead, as they are on that rank, if any. 0, or -1: out of memory.
 * Local. */
int describe_copy_originals(epop_description_t *d, int rank, int size);

/* Frees this rank's parts, and leaves NULL. Local. */
void describe_release(epop_description_t *d);

/* ---- Values ------------------------------------------------------------------------------------- */

/* DESCRIBE_FILL: copies in what the source has under that name. False: refused. Local. */
bool describe_fill(epop_description_t *d, const char *name, void *values, size_t bytes);

/* DESCRIBE_FILL: what the source has under that name, and how much. NULL: nothing. Valid while the block runs. Local.
 */
const char *describe_values_find(const epop_description_t *d, const char *name, size_t *bytes);

/* All values of a list, one after the other, with their names and lengths: what a joining process, a checkpoint and a
 * partner get. From malloc(); NULL: out of memory. Local. */
char *describe_values_pack(const epop_description_t *d, size_t *bytes);

/* ---- A window ----------------------------------------------------------------------------------- */

/* Have all ranks of window->all a list, and the same: names, kinds, flags, terms? fault: why this rank has none, or
 * NULL. 0, or -1 with the same text on all, that names the rank, and the entry. *ahead (ahead may be NULL): is it here;
 * becomes: is it on all? Notes what is empty now. Collective. */
int describe_agree(const epop_description_t *d, const epop_window_t *window, const char *fault, bool *ahead,
                   struct error *error);
/* The same without a look at what is empty. */
int describe_alike(const epop_description_t *d, const epop_window_t *window, const char *fault, struct error *error);

/* What has to be the same on all ranks: a text for each entry. The caller's; NULL: out of memory. Local. */
cJSON *describe_lines(const epop_description_t *d);
/* Is there something that a balance makes anew? Local. */
bool describe_divides(const epop_description_t *d);
/* Does a process that is to join list the same as rank 0, whose texts these are? 0, or -1 with text. Local. */
int describe_like(const epop_description_t *d, const cJSON *lines, struct error *error);

/*
 * All of it in a window: old ranks list, joining ones fill in the values of rank 0, all agree, and everything moves.
 * Collective over window->all. EPOP_OK, or the same error on all with a line on stderr.
 */
int describe_window(const epop_window_t *window, void (*block)(void *, epop_description_t *), void *data);

/* What came ahead of the window, where somebody moves data so (runtime/ahead/). */
struct describe_ahead {
    /* Is it all here, and of use for what is described now? It counts where it is so on all. */
    bool (*is_here)(describe_block *block, const void *data, const epop_description_t *now);
    /* Marks its entries, whose local pointers have the new parts then. d: what the block has made of the data. */
    void (*hand_over)(epop_description_t *d);
};
/* At the start of the job; else nobody does. It stays the caller's. */
void describe_come_ahead(const struct describe_ahead *ahead);

/* ---- What kinds share --------------------------------------------------------------------------- */

/* A mix of a global index and the bytes there, for `sum` of a kind: summed up modulo 2^64 it does not depend on order.
 */
uint64_t describe_mix(int64_t index, const void *bytes, size_t size);

/* The same of `count` elements of that type, of which number i has the index global(context, i); what lies in gaps
 * between and in elements does not count. */
void describe_mix_elements(MPI_Datatype type, const void *elements, int64_t count,
                           int64_t (*global)(const void *context, int64_t local), const void *context, uint64_t *sum);

/* The sum of what is another for another number of ranks: that it is one, of so many indices. */
void describe_sum_indices(int64_t indices, int rank, int64_t *count, uint64_t *sum);

/* Bytes that `count` elements take in memory. Local. */
int64_t describe_bytes(MPI_Datatype type, int64_t count);

/* Room for `count` elements, all bytes 0; NULL for none. False: out of memory. Local. */
bool describe_room(MPI_Datatype type, int64_t count, void **block);

/* A copy of this rank's part of `count` elements: what is saved stays the program's as it is. False: out of memory, or
 * there is no part. Local. */
bool describe_copy(const struct described *entry, int64_t count, void **copy);

/* `release` of a kind whose part is what `local` points to. */
void describe_release_part(struct described *entry);

/*
 * An array that is dealt out by cuts which an entry before it describes (epop_describe_cuts): the whole old and new
 * distribution. False: no entry before it has these starts. Local.
 */
bool describe_cuts_of(const struct described *entry, epop_dist_t dist, epop_dist_t *before, epop_dist_t *after);
/* Ahead of the window: may what is dealt out by `dist` move then, and are the old and new distribution known by now? */
bool describe_dist_goes(const struct described *entry, epop_dist_t dist);
bool describe_dists_ahead(const struct described *entry, epop_dist_t dist, epop_dist_t *before, epop_dist_t *after);
/* Where this rank's part is that is there: the original, or what `local` points to. Local. */
const void *describe_part_of(const struct described *entry);
/* Is it constant, so that it moves ahead of the window if its kind can? */
bool describe_is_constant(const struct described *entry);

/* What a rank has of a matrix, and of sparse rows that are there. Local. */
void describe_matrix_extent(const struct described *entry, int rank, int size, int64_t *rows, int64_t *cols);
void describe_csr_extent(const struct described *entry, int rank, int size, int64_t *rows, int64_t *elements);

/* ---- As weights of cuts ------------------------------------------------------------------------- */

/* Is the array dealt out by cuts with these starts? Local. */
bool describe_array_is_by(const struct described *entry, const int64_t *starts);
/* Are the sparse rows dealt out by them? Local. */
bool describe_csr_is_by(const struct described *entry, const int64_t *starts);
/* How long the rows of this rank are. From malloc(), of `rows` numbers; NULL: out of memory. Local. */
int64_t *describe_csr_lengths(const struct described *entry, int64_t rows);
/* From a checkpoint: rows `first` to `first + rows - 1`, the parts of the ranks one after the other: *starts has rows +
 * 1 entries, counted over all ranks. 0, or -1 on all ranks. Collective over window->all. */
int describe_csr_read(const struct described *entry, const epop_window_t *window, const struct slab_reader *reader,
                      int64_t first, int64_t rows, int64_t all, int64_t **starts, struct error *error);

#endif
