/*
 * The driver interface: a table of hooks around the walk through a program. The built-in drivers and
 * a user's own shared object (`--driver ./mine.so`) go through the same table.
 */
#ifndef EPOP_DRIVER_H
#define EPOP_DRIVER_H

#include <epop/program.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EPOP_DRIVER_ABI_VERSION 1u

/* Where a process is in the program. */
typedef struct epop_position {
    const epop_program_t *program;
    int pc;            /* of the present element */
    int64_t visit;     /* elements entered so far, INIT not counted */
    int64_t iteration; /* of the present visit, from 0 */
    int rank, size;    /* in the present world; rank -1 before there is one */
} epop_position_t;

/* What `loaded` returns besides 0 and an error number: do not walk; the driver has done all there is to do. */
#define EPOP_DRIVER_DONE (-1)

/* One option of a driver, accepted on epop's command line beside its own while this driver is chosen. */
typedef struct epop_driver_option {
    const char *name;     /* without the dashes */
    const char *argument; /* what --help shows for its argument; NULL: takes none */
    const char *help;
} epop_driver_option_t;

/* Flags */
#define EPOP_DRIVER_NO_WALK 1u /* never walks: needs neither MPI nor a launcher */

/*
 * The table. Hooks run in the program's thread, on every rank, and must not block longer than they have
 * to; none is collective unless it makes it so on epop_world(). Every hook may be NULL. `state` is what
 * `open` stored.
 */
typedef struct epop_driver {
    unsigned abi_version; /* EPOP_DRIVER_ABI_VERSION */
    unsigned struct_size; /* sizeof(epop_driver_t): hooks added later are absent in older drivers */
    const char *name;
    const char *summary; /* one line for --help */
    unsigned flags;
    const epop_driver_option_t *options; /* ends with a NULL name; may be NULL */

    int (*open)(void **state);                                           /* before anything else */
    int (*option)(void *state, const char *name, const char *value);     /* once per option given */
    int (*loaded)(void *state, const epop_program_t *program, int rank); /* validated; nothing ran yet */
    void (*element_enter)(void *state, const epop_position_t *position); /* any element, INIT too */
    void (*element_leave)(void *state, const epop_position_t *position);
    void (*iteration_begin)(void *state, const epop_position_t *position); /* EP and RP, after the probe */
    void (*iteration_end)(void *state, const epop_position_t *position);
    void (*adaptation_begin)(void *state, const epop_position_t *position); /* before the adapt block */
    void (*adaptation_end)(void *state, const epop_position_t *position);   /* after it; on leaving ranks too */
    void (*finished)(void *state, const epop_position_t *position);         /* the walk ended well */
    void (*failed)(void *state, const epop_position_t *position, int error);
    void (*close)(void *state);
} epop_driver_t;

/* What a driver's shared object exports. */
EPOP_EXPORT const epop_driver_t *epop_get_driver(void);

#ifdef __cplusplus
}
#endif
#endif
