/* The sums of one process: a cell for each element, world size and rank; a row for each adaptation. */
#ifndef DRIVER_PROFILE_CELLS_H
#define DRIVER_PROFILE_CELLS_H

#include <cjson/cJSON.h>
#include <stdint.h>

/* Calls of one MPI function. */
struct calls {
    int function;
    int64_t count, ticks;
};

struct call_list {
    struct calls *calls;
    int count;
    size_t room;
};

struct cell {
    int pc, size, rank;
    int64_t visits, iterations, ticks;
    struct call_list mpi;
};

/* What an adaptation was to this process. */
struct row {
    int id;
    double opened;            /* seconds since 1970 */
    int64_t ticks, mpi_ticks; /* in the adapt block */
    int64_t init_ticks;       /* of a joining process; else -1 */
    int64_t sent, received, least;
    cJSON *to;     /* [process, bytes] each */
    cJSON *arrays; /* [name, sent, received, least, ahead] each */
};

/* A stretch in which it was that rank. */
struct part {
    int rank, size;
    double begin, end; /* seconds since 1970; end 0: still */
};

struct cells {
    struct cell *cells;
    int cell_count;
    size_t cell_room;
    struct row *rows;
    int row_count;
    size_t row_room;
    struct part *parts;
    int part_count;
    size_t part_room;
};

/* The cell, made if there is none yet. NULL when out of memory. It stays where it is until the next one is made. */
struct cell *cells_at(struct cells *cells, int pc, int size, int rank);
struct row *cells_add_row(struct cells *cells);
/* From now on this process is that rank. */
void cells_be(struct cells *cells, int rank, int size, double now);
void cells_add_calls(struct call_list *list, int function, int64_t count, int64_t ticks);
/* A deep copy, to which more can be added; NULL when out of memory. */
struct cells *cells_copy(const struct cells *cells);
void cells_clear(struct cells *cells);

/* The record of a process; tick: seconds of one. */
cJSON *cells_json(const struct cells *cells, double tick, double now);

#endif
