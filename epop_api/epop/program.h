/*
 * The program model of EPOP: a program is an array of init, elastic and rigid
 * phases and branches that a shared object exports and a driver walks.
 * Nothing here needs MPI.
 *
 * Source: I. A. Compres Urena, "Resource-Elasticity Support for Distributed
 * Memory HPC Applications", TU Munich 2017, chapter 7.
 */
#ifndef EPOP_PROGRAM_H
#define EPOP_PROGRAM_H

#include <stdint.h>

#include <epop/visibility.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The layout of the structures below. The loader also takes version 1, which ends before `describe`, and version 2,
 * which ends before `pack`, and refuses others.
 */
#define EPOP_ABI_VERSION 3u

/* What the functions of this library return. A block may return these or any
 * other non-zero number of its own; every non-zero number ends the job. */
typedef enum epop_result {
    EPOP_OK = 0,
    EPOP_ERR_ARGUMENT = 201, /* an argument that makes no sense */
    EPOP_ERR_STATE = 202,    /* called where it may not be called */
    EPOP_ERR_MEMORY = 203,   /* out of memory */
    EPOP_ERR_MPI = 204,      /* an MPI function failed */
    EPOP_ERR_REFUSED = 205,  /* understood, but not possible now */
    EPOP_ERR_SYSTEM = 206    /* an operating system call failed */
} epop_result;

/* Text of an epop_result, never NULL, static. Local. */
EPOP_API const char *epop_result_text(int result);

typedef enum epop_element_type { EPOP_INIT = 1, EPOP_EP = 2, EPOP_RP = 3, EPOP_BRANCH = 4 } epop_element_type;

/* ---- World sizes ------------------------------------------------------- */

typedef enum epop_size_kind {
    EPOP_SIZE_ANY = 0,
    EPOP_SIZE_MULTIPLE = 1,     /* of .factor */
    EPOP_SIZE_POWER_OF_TWO = 2, /* 1, 2, 4, 8 ... */
    EPOP_SIZE_SQUARE = 3,       /* 1, 4, 9, 16 ... */
    EPOP_SIZE_EVEN = 4,
    EPOP_SIZE_ODD = 5,
    EPOP_SIZE_FUNCTION = 6 /* .accepts decides */
} epop_size_kind;

/* The world sizes that a program or a phase accepts; all zero accepts any.
 * min and max bound every kind; 0 means no bound. */
typedef struct epop_sizes {
    epop_size_kind kind;
    int min, max;             /* processes; 0: no bound */
    int factor;               /* EPOP_SIZE_MULTIPLE only, >= 1 */
    int (*accepts)(int size); /* EPOP_SIZE_FUNCTION only; pure: also called from the control thread */
    int preferred;            /* a hint for schedulers; 0: none */
} epop_sizes_t;

/* Non-zero if `sizes` accepts a world of `size` processes. NULL accepts any size >= 1. Local, pure. */
EPOP_API int epop_sizes_accept(const epop_sizes_t *sizes, int size);

/* The largest accepted size <= `size`, or 0 if there is none. Local, pure. */
EPOP_API int epop_sizes_round_down(const epop_sizes_t *sizes, int size);

/* The rule in words ("squares, at most 16") in text, at most text_size bytes with the terminator. NULL is any
 * size. EPOP_OK, or EPOP_ERR_ARGUMENT when there is no room for any text. Local, pure. */
EPOP_API int epop_sizes_text(const epop_sizes_t *sizes, char *text, int text_size);

/* ---- Elements ---------------------------------------------------------- */

/* How far a phase is, for progress displays. */
typedef struct epop_progress {
    int64_t iteration; /* iterations done */
    int64_t bound;     /* iterations in all; 0: unknown */
} epop_progress_t;

/*
 * One element of a program. Blocks return 0, or an error number that ends the job.
 *
 *   INIT    init                                     mandatory
 *   EP      phase_exec, phase_adapt, loop_condition  all mandatory
 *   RP      phase_exec mandatory, loop_condition optional (NULL: run once)
 *   BRANCH  branch_condition                         mandatory
 *
 * loop_condition returns non-zero to go on; branch_condition returns the next pc, or EPOP_END.
 * Both must answer the same on every rank.
 */
typedef struct epop_element {
    epop_element_type type;
    const char *name; /* shown in messages and profiles; NULL: the type's name */
    int (*init)(int *argc, char ***argv, void **data);
    int (*phase_adapt)(void *data);
    int (*phase_exec)(void *data);
    int (*loop_condition)(void *data);
    int (*branch_condition)(int pc, void *data);
    const epop_sizes_t *sizes;                               /* NULL: the program's rule */
    void (*progress)(void *data, epop_progress_t *progress); /* optional; called between iterations on rank 0 */
} epop_element_t;

/* What a branch returns to end the program: no pc, and no number that comes about by chance. */
#define EPOP_END (-0x454e44)

/* What a describe block lists to (epop/describe.h). */
typedef struct epop_description epop_description_t;

typedef struct epop_program {
    void *data; /* what INIT receives in *data, before it puts its own there; usually NULL */
    int size;   /* number of elements */
    epop_element_t *elements;
    unsigned abi_version; /* EPOP_ABI_VERSION of the header that the program was compiled with */
    const char *name;     /* NULL: the file's name */
    epop_sizes_t sizes;   /* for every phase without a rule of its own */
    int finalizer;        /* pc of the rigid phase that `stop` still runs; 0 (never an RP) or -1: none */
    int capacity;         /* internal to epop_add_* */
    /*
     * Blocks of the program, all optional (docs/guide/data.md). describe lists the data. rebuild makes what follows
     * from it (communicators, ghost lists, derived tables) on staying, joining and restarting ranks, when all data is
     * there; epop_world() is the new world already; 0, or an error number that ends the job. release frees what is left
     * of `data` on a process that leaves the program, in whichever way; described parts are gone by then. Local. pack
     * puts what the program has in structures of its own into what describe lists: on all ranks that have the data,
     * before it is described for a window or a checkpoint; epop_world() is the present world; 0, or an error number,
     * which ends the job in a window, and is the end of that checkpoint.
     */
    void (*describe)(void *data, epop_description_t *d);
    int (*rebuild)(void *data);
    void (*release)(void *data);
    int (*pack)(void *data);
} epop_program_t;

/*
 * What every program exports. Called once per process that starts on the program,
 * before INIT; the driver hands the result to epop_program_free afterwards when the
 * program came from one of the two constructors below. Local; must not communicate.
 */
EPOP_EXPORT epop_program_t *get_program(void);

/* A new, empty program; the name is copied. NULL when out of memory. Local. */
#define epop_program_create(name) epop_program_create_abi((name), EPOP_ABI_VERSION)
EPOP_API epop_program_t *epop_program_create_abi(const char *name, unsigned abi_version);

/* A new program with `size` elements, all zero, for the caller to fill in. NULL when out of memory. Local. */
#define epop_program_alloc(size) epop_program_alloc_abi((size), EPOP_ABI_VERSION)
EPOP_API epop_program_t *epop_program_alloc_abi(int size, unsigned abi_version);

/* Frees a program made by either of the two; NULL, and a program made otherwise, are left alone. Not its data. Local.
 */
EPOP_API void epop_program_free(epop_program_t *program);

/* Append one element; they return its pc, or -1 when out of memory or when program comes from neither of the two.
 * `name` must stay valid (usually a string literal). Local. */
EPOP_API int epop_add_init(epop_program_t *program, const char *name,
                           int (*init)(int *argc, char ***argv, void **data));
EPOP_API int epop_add_elastic(epop_program_t *program, const char *name, int (*exec)(void *data),
                              int (*adapt)(void *data), int (*loop)(void *data));
EPOP_API int epop_add_rigid(epop_program_t *program, const char *name, int (*exec)(void *data),
                            int (*loop)(void *data));
EPOP_API int epop_add_branch(epop_program_t *program, const char *name, int (*branch)(int pc, void *data));

/* Set the blocks of a program; NULL: none. EPOP_OK, or EPOP_ERR_ARGUMENT for no program, or one of a version without
 * that block. Local. */
EPOP_API int epop_describe(epop_program_t *program, void (*describe)(void *data, epop_description_t *d));
EPOP_API int epop_rebuild(epop_program_t *program, int (*rebuild)(void *data));
EPOP_API int epop_release(epop_program_t *program, void (*release)(void *data));
EPOP_API int epop_pack(epop_program_t *program, int (*pack)(void *data));

/* Set the progress of element pc, and the sizes that it accepts (NULL: the program's); of pc -1 the sizes of the
 * program. Sizes are copied. EPOP_OK, EPOP_ERR_MEMORY, or EPOP_ERR_ARGUMENT: no program, no such element, sizes of an
 * element where the program comes from no constructor, and none for the program. Local. */
EPOP_API int epop_set_progress(epop_program_t *program, int pc,
                               void (*progress)(void *data, epop_progress_t *progress));
EPOP_API int epop_set_sizes(epop_program_t *program, int pc, const epop_sizes_t *sizes);

/*
 * An adapt block for programs with a describe block: begins, calls pack on old ranks, moves all that it lists, calls
 * rebuild on staying and joining ranks and release on leaving ones, and commits. Collective over the window's ranks.
 * EPOP_OK, or the error of all ranks, with a line on stderr; what pack or rebuild returned, on the rank where it did.
 */
EPOP_API int epop_adapt_described(void *data);

/* The size rule that holds at element pc: its own, else the program's. Local, pure. */
EPOP_API const epop_sizes_t *epop_sizes_at(const epop_program_t *program, int pc);

/* "INIT", "EP", "RP", "BRANCH", or "unknown". Static. */
EPOP_API const char *epop_element_type_name(epop_element_type type);

/*
 * Checks the structure: sizes, types, mandatory blocks, exactly one INIT and that first,
 * size rules, finalizer. Returns EPOP_OK, or EPOP_ERR_ARGUMENT with one line of text in
 * error (at most error_size bytes with the terminator). Calls no block. Local.
 */
EPOP_API int epop_program_validate(const epop_program_t *program, char *error, int error_size);

/*
 * The structure as JSON text by schema/program.schema.json, indented; the caller frees it
 * with free(). NULL when out of memory. Calls no block. Local.
 */
EPOP_API char *epop_program_to_json(const epop_program_t *program);

/* The names of the published listings. */
#ifdef EPOP_SHORT_NAMES
typedef epop_program_t program_t;
typedef epop_element_t program_element_t;
#define INIT                    EPOP_INIT
#define EP                      EPOP_EP
#define RP                      EPOP_RP
#define BRANCH                  EPOP_BRANCH
#define epop_alloc_phases(size) epop_program_alloc(size)
#endif

#ifdef __cplusplus
}
#endif
#endif
