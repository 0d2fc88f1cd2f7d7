/* The command line of the mesh example. */
#ifndef AMR_OPTIONS_H
#define AMR_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/* The strings belong to argv. */
typedef struct options {
    int64_t levels;         /* of the finest blocks */
    int64_t steps, period;  /* in all, and until the flow begins anew */
    int64_t every;          /* steps between changes of the mesh */
    int64_t blocks;         /* that a rank is to have at most; 0: no ranks are asked for */
    int64_t most;           /* ranks that are asked for */
    double refine, balance; /* the difference between cells; the imbalance above which the blocks are dealt out */
    const char *log;        /* NULL: none; also of the next */
    const char *meshes;
    int64_t each; /* steps between two meshes there */
    int help;
} options_t;

/* 0, or -1 with one line of text in error. */
int options_parse(options_t *options, int argc, char **argv, char *error, size_t error_size);

/* What --help shows. */
void options_usage(void);

#endif
