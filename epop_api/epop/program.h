/*
 * The program model: a program is an array of elements (phases and branches) that a shared object exports and a driver
 * walks.
 *
 * Source: I. A. Compres Urena, "Resource-Elasticity Support for Distributed Memory HPC Applications", TU Munich 2017,
 * chapter 7.
 */
#ifndef EPOP_PROGRAM_H
#define EPOP_PROGRAM_H

#include <stdint.h>

#include <epop/visibility.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions, results and element types ------------------------------- */

/* The layout of the structures. Programs compiled for version 1 (without `describe` and what follows it), 2 (without
 * `pack`) or 3 (without `scaling`) are loaded, too. */
#define EPOP_ABI_VERSION 4u

/* What functions and blocks return. A block may also return a number of its own. */
typedef enum epop_result {
    EPOP_OK = 0,
    EPOP_ERR_ARGUMENT = 201, /* an argument makes no sense */
    EPOP_ERR_STATE = 202,    /* called where it may not be called */
    EPOP_ERR_MEMORY = 203,   /* out of memory */
    EPOP_ERR_MPI = 204,      /* an MPI function failed */
    EPOP_ERR_REFUSED = 205,  /* not possible now */
    EPOP_ERR_SYSTEM = 206    /* a system call failed */
} epop_result;

/* Returns a static text for an epop_result, never NULL. Local. */
EPOP_API const char *epop_result_text(int result);

/* The types of elements. */
typedef enum epop_element_type { EPOP_INIT = 1, EPOP_EP = 2, EPOP_RP = 3, EPOP_BRANCH = 4 } epop_element_type;

/* ---- World sizes ------------------------------------------------------- */

/* The kinds of size rules. */
typedef enum epop_size_kind {
    EPOP_SIZE_ANY = 0,
    EPOP_SIZE_MULTIPLE = 1, /* of `factor` */
    EPOP_SIZE_POWER_OF_TWO = 2,
    EPOP_SIZE_SQUARE = 3,
    EPOP_SIZE_EVEN = 4,
    EPOP_SIZE_ODD = 5,
    EPOP_SIZE_FUNCTION = 6 /* `accepts` decides */
} epop_size_kind;

/* What more ranks are for: a hint for schedulers, tools and drivers. The time left is what progress says; these say how
 * it changes with the size. */
typedef enum epop_scaling {
    EPOP_SCALING_STRONG = 0, /* the same iterations, sooner */
    /* Iterations that do more work and take as long, and are as many: speed is ranks over seconds of an iteration. */
    EPOP_SCALING_WEAK = 1,
    EPOP_SCALING_WEAK_WORK = 2 /* such iterations, until so much work is done: progress counts work, not iterations */
} epop_scaling;

/* The numbers of ranks that a program or phase accepts; all zero accepts any. Requests are rounded down to an accepted
 * size. An elastic phase that is entered at another size shrinks first; a rigid phase ends the job. */
typedef struct epop_sizes {
    epop_size_kind kind;
    int min, max;             /* for every kind; 0: no bound */
    int factor;               /* at least 1 */
    int (*accepts)(int size); /* depends on `size` alone; also called from other threads */
    int preferred;            /* a hint for schedulers; 0: none */
    epop_scaling scaling;
} epop_sizes_t;

/* Returns non-zero if `sizes` accepts `size` ranks. NULL accepts any. Local. */
EPOP_API int epop_sizes_accept(const epop_sizes_t *sizes, int size);

/* Returns the largest accepted size up to `size`, or 0 if there is none. Local. */
EPOP_API int epop_sizes_round_down(const epop_sizes_t *sizes, int size);

/* Writes the rule in words ("squares, at most 16"), cut to `text_size` bytes. Local. */
EPOP_API int epop_sizes_text(const epop_sizes_t *sizes, char *text, int text_size);

/* ---- Elements ---------------------------------------------------------- */

/* How far an elastic phase is. */
typedef struct epop_progress {
    int64_t iteration; /* iterations done; preset with those of this visit */
    int64_t bound;     /* iterations in all; 0: unknown */
    double share;      /* of the work that is done, 0 to 1, where iterations differ in it; 0: as the iterations */
} epop_progress_t;

/* The function of a phase. With short names (see below) it may also be INIT's, which has other parameters. C before C23
 * has a type for both, the third of these; C23 has none, and lets any pointer pass. */
#if !defined EPOP_SHORT_NAMES || defined __cplusplus
typedef int (*epop_exec_t)(void *data);
#elif __STDC_VERSION__ > 201710L
typedef void *epop_exec_t;
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
typedef int (*epop_exec_t)();
#pragma GCC diagnostic pop
#endif

/*
 * An element. Its index in the program is its pc.
 *
 * - EPOP_INIT: runs `init` once in each process that starts on the program. Exactly one, the first element.
 * - EPOP_EP, an elastic phase: runs `phase_exec` as long as `loop_condition` returns non-zero. In between `phase_adapt`
 *   moves the data when ranks come or go, on all of them, between epop_adapt_begin and epop_adapt_commit.
 * - EPOP_RP, a rigid phase: runs `phase_exec` as long as `loop_condition` returns non-zero; once if that is NULL.
 * - EPOP_BRANCH: `branch_condition` gets its own pc and returns the next one (not 0), or EPOP_END.
 *
 * The two conditions return the same on every rank. The other blocks return 0, or an error number that ends the job.
 */
typedef struct epop_element {
    epop_element_type type;
    const char *name; /* for messages; NULL: the type's name */
    /* Stores the program's data in *data; may change the arguments, of which argv[0] is the program's file. Joining
     * processes run it, too, so it must not communicate with ranks that run already. */
    int (*init)(int *argc, char ***argv, void **data);
    int (*phase_adapt)(void *data);
    epop_exec_t phase_exec;
    int (*loop_condition)(void *data);
    int (*branch_condition)(int pc, void *data);
    const epop_sizes_t *sizes;                               /* NULL: the program's */
    void (*progress)(void *data, epop_progress_t *progress); /* optional; for an EP, on rank 0 between iterations */
} epop_element_t;

/* Ends the program when a branch returns it. */
#define EPOP_END (-0x454e44)

/* The list that a describe block fills: see <epop/describe.h>. */
typedef struct epop_description epop_description_t;

/* A program. The blocks at its end are optional; docs/guide/data.md shows how to use them. */
typedef struct epop_program {
    void *data; /* what INIT finds in *data; usually NULL */
    int size;   /* number of elements */
    epop_element_t *elements;
    unsigned abi_version; /* EPOP_ABI_VERSION */
    const char *name;     /* NULL: the file's name */
    epop_sizes_t sizes;   /* for phases without a rule of their own */
    int finalizer;        /* pc of the rigid phase that `epopctl stop` and SIGTERM still run; 0 or -1: none */
    int capacity;         /* internal */
    /* Lists the data. */
    void (*describe)(void *data, epop_description_t *d);
    /* On staying, joining and restarting ranks, when the described data is there: makes what follows from it, in the
     * new world. Returns 0, or an error number that ends the job. */
    int (*rebuild)(void *data);
    /* When a process leaves the program: frees what is left; described parts are freed already. */
    void (*release)(void *data);
    /* On all ranks with data, before a window or checkpoint: copies what the program keeps in other structures into
     * what is described. Returns 0, or an error number that ends the job, or gives up the checkpoint. */
    int (*pack)(void *data);
} epop_program_t;

/* Every program exports this. It is called once in each process, before INIT, and must not communicate. The driver
 * passes the result, which must not be NULL, to epop_program_free in the end. Local. */
EPOP_EXPORT epop_program_t *get_program(void);

/* Returns a new, empty program, or NULL if out of memory. `name` is copied. Local. */
#define epop_program_create(name) epop_program_create_abi((name), EPOP_ABI_VERSION)
EPOP_API epop_program_t *epop_program_create_abi(const char *name, unsigned abi_version);

/* Returns a new program with `size` zeroed elements to fill in, or NULL if out of memory. Local. */
#define epop_program_alloc(size) epop_program_alloc_abi((size), EPOP_ABI_VERSION)
EPOP_API epop_program_t *epop_program_alloc_abi(int size, unsigned abi_version);

/* For epop_alloc_phases: frees `*program`, which is from malloc() or NULL, and stores such a program there, whose INIT
 * may have its function in `phase_exec`. If it fails `*program` is NULL. Local. */
EPOP_API int epop_program_replace_abi(epop_program_t **program, int size, unsigned abi_version);

/* Frees a program that one of these made, but not its data. Leaves others, and NULL, alone. Local. */
EPOP_API void epop_program_free(epop_program_t *program);

/* Append an element and return its pc, or -1 if out of memory or if `program` was not made by one of the above. `name`
 * is not copied. Local. */
EPOP_API int epop_add_init(epop_program_t *program, const char *name,
                           int (*init)(int *argc, char ***argv, void **data));
EPOP_API int epop_add_elastic(epop_program_t *program, const char *name, int (*exec)(void *data),
                              int (*adapt)(void *data), int (*loop)(void *data));
EPOP_API int epop_add_rigid(epop_program_t *program, const char *name, int (*exec)(void *data),
                            int (*loop)(void *data));
EPOP_API int epop_add_branch(epop_program_t *program, const char *name, int (*branch)(int pc, void *data));

/* Set a block of the program, or remove it (NULL). EPOP_ERR_ARGUMENT if there is no program, or it is of a version
 * without that block. Local. */
EPOP_API int epop_describe(epop_program_t *program, void (*describe)(void *data, epop_description_t *d));
EPOP_API int epop_rebuild(epop_program_t *program, int (*rebuild)(void *data));
EPOP_API int epop_release(epop_program_t *program, void (*release)(void *data));
EPOP_API int epop_pack(epop_program_t *program, int (*pack)(void *data));

/* An argument of the program that may be another one when a run goes on from a checkpoint: "steps" stands for one that
 * begins with "steps="; "--steps", with a dash, also for itself and the argument behind it; "2" for the second one.
 * `name` is copied. EPOP_ERR_ARGUMENT if it is NULL or empty, or `program` was not made by one of the above;
 * EPOP_ERR_MEMORY. Local. */
EPOP_API int epop_may_change(epop_program_t *program, const char *name);

/* Set the progress function and the size rule of an element. `sizes` is copied; NULL means the program's rule. With
 * `pc` -1 it is the program's rule that is set. EPOP_ERR_ARGUMENT if there is no such element, or the program of an
 * element was not made by one of the above; EPOP_ERR_MEMORY. Local. */
EPOP_API int epop_set_progress(epop_program_t *program, int pc,
                               void (*progress)(void *data, epop_progress_t *progress));
EPOP_API int epop_set_sizes(epop_program_t *program, int pc, const epop_sizes_t *sizes);

/* An adapt block for described data: opens the window, calls `pack` on old ranks, moves the data, calls `rebuild` on
 * staying and joining ranks and `release` on leaving ones, and commits. Collective over these ranks. All return the
 * same error, with a line on standard error; the rank whose block failed returns its number. */
EPOP_API int epop_adapt_described(void *data);

/* ---- Looking at programs ------------------------------------------------ */

/* Returns the size rule of an element: its own, or the program's. Local. */
EPOP_API const epop_sizes_t *epop_sizes_at(const epop_program_t *program, int pc);

/* Returns how an element scales, by the same rule; with pc -1 the program. Local. */
EPOP_API epop_scaling epop_scaling_at(const epop_program_t *program, int pc);

/* Returns "strong", "weak", "weak-work" or "unknown". Local. */
EPOP_API const char *epop_scaling_name(epop_scaling scaling);

/* Returns "INIT", "EP", "RP", "BRANCH" or "unknown". Local. */
EPOP_API const char *epop_element_type_name(epop_element_type type);

/* Checks the structure, as `epop` does when it loads a program: blocks, INIT, size rules, finalizer. EPOP_ERR_ARGUMENT
 * comes with a line in `error`, cut to `error_size` bytes. Local. */
EPOP_API int epop_program_validate(const epop_program_t *program, char *error, int error_size);

/* Returns the structure as JSON (schema/program.schema.json), which the caller frees with free(), or NULL if out of
 * memory. Local. */
EPOP_API char *epop_program_to_json(const epop_program_t *program);

/* ---- Short names --------------------------------------------------------- */

/* The names of the published listings, if EPOP_SHORT_NAMES is defined before the first include. Pointers to functions
 * of another type are errors then, as they are to newer compilers, because a block that returns nothing would end the
 * job by chance. Not for C++. docs/reference/published.md has more. */
#if defined EPOP_SHORT_NAMES && !defined __cplusplus
#pragma GCC diagnostic error "-Wincompatible-pointer-types"
typedef epop_program_t program_t;
typedef epop_element_t program_element_t;
#define INIT                             EPOP_INIT
#define EP                               EPOP_EP
#define RP                               EPOP_RP
#define BRANCH                           EPOP_BRANCH
#define epop_alloc_phases(program, size) epop_program_replace_abi((program), (size), EPOP_ABI_VERSION)
#endif

#ifdef __cplusplus
}
#endif
#endif
