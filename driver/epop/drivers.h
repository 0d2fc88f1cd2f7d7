/*
 * The drivers of this run: a list, usually of one. A built-in driver and a user's shared object pass the
 * same checks and are called through the same table. Hooks are called in the order of the list where
 * something begins, and in the reverse order where it ends.
 */
#ifndef DRIVER_DRIVERS_H
#define DRIVER_DRIVERS_H

#include <epop/driver.h>
#include <stdio.h>

#include "runtime/base/error.h"

#define DRIVERS_MAX 8

struct driver_slot {
    epop_driver_t table; /* a copy: hooks that an older driver does not know are NULL */
    void *state;         /* the driver's own */
    void *handle;        /* of dlopen; NULL: built in */
};

struct drivers {
    int count;
    struct driver_slot slots[DRIVERS_MAX];
    int no_walk;         /* a driver never walks (EPOP_DRIVER_NO_WALK): load, drivers_loaded, and exit */
    int init_only;       /* instead, the walk ends behind INIT (EPOP_DRIVER_INIT) */
    int iteration_hooks; /* a driver has iteration_begin or _end; else the walker need not call those */
    int element_hooks;   /* a driver has element_enter or _leave */
    int adapted_hooks;   /* a driver has adapted */
    int block_hooks;     /* a driver has block_enter, block_leave or decided */
    char refusal[400];   /* one line of text after drivers_loaded returned an error number */
};

/*
 * Opens the drivers of a comma-separated list of names of built-in drivers and paths of shared objects (they
 * contain a slash), and appends them. 0, or -1 with one line of text in error.
 */
int drivers_open(struct drivers *drivers, const char *names, struct error *error);

/* Hands an option to the driver that has it. 0, -1 with one line of text in error. */
int drivers_option(struct drivers *drivers, const char *name, const char *value, struct error *error);

/* Calls every driver's close, the last one first, and unloads them. */
void drivers_close(struct drivers *drivers);

/* The summaries of all built-in drivers and the options of the open ones, for --help. */
void drivers_help(const struct drivers *drivers, FILE *stream);

/* The hooks. drivers_loaded returns 0, EPOP_DRIVER_DONE if a driver wants no walk, or the first error number. */
int drivers_loaded(struct drivers *drivers, const epop_program_t *program, int rank);
void drivers_element_enter(struct drivers *drivers, const epop_position_t *position);
void drivers_element_leave(struct drivers *drivers, const epop_position_t *position);
void drivers_iteration_begin(struct drivers *drivers, const epop_position_t *position);
void drivers_iteration_end(struct drivers *drivers, const epop_position_t *position);
void drivers_adaptation_begin(struct drivers *drivers, const epop_position_t *position);
void drivers_adaptation_end(struct drivers *drivers, const epop_position_t *position);
void drivers_adapted(struct drivers *drivers, const epop_position_t *position, const epop_adapted_t *adapted);
void drivers_hold_begin(struct drivers *drivers, const epop_position_t *position);
void drivers_hold_end(struct drivers *drivers, const epop_position_t *position);
void drivers_block_enter(struct drivers *drivers, const epop_position_t *position, epop_block_t block, void *data);
void drivers_block_leave(struct drivers *drivers, const epop_position_t *position, epop_block_t block, void *data);
void drivers_decided(struct drivers *drivers, const epop_position_t *position, int answer);
void drivers_finished(struct drivers *drivers, const epop_position_t *position);
void drivers_failed(struct drivers *drivers, const epop_position_t *position, int error);

/* Hands those that record (hooks record and write) to the runtime, before the job starts; *drivers stays where it is
 * until the end. */
void drivers_record(struct drivers *drivers, int quiet);

#endif
