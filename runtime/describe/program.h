/*
 * The blocks of the program that this process runs, and its data: for all who describe it (windows, checkpoints,
 * audits). Set by the walk, on the program's thread alone.
 */
#ifndef EPOP_DESCRIBE_PROGRAM_H
#define EPOP_DESCRIBE_PROGRAM_H

#include "runtime/describe/describe.h"

struct describe_program {
    const epop_program_t *program;                       /* NULL: no program is between its INIT and its end */
    void (*describe)(void *data, epop_description_t *d); /* NULL: the program is not described */
    int (*rebuild)(void *data);
    void (*release)(void *data);
    int (*pack)(void *data);
    void *data;
    bool looked; /* at all of it, before anything moved */
    bool told;   /* rank 0 has said what it lists, and the next: whether a balance makes some of it anew */
    bool told_form;
    bool whole; /* the described data is there: not on a process that still has to join or to restart */
};
extern struct describe_program describe_program;

/* After INIT. joining: its data is to come. */
void describe_program_begin(const epop_program_t *program, void *data, bool joining);

/* This process leaves the program: its described data is freed, then its release block runs. Once: a second call does
 * nothing. */
void describe_program_release(void);

/*
 * A first look at what the program describes (look.h): behind INIT at its form; when an elastic phase begins, which is
 * the first one, at all of it. moved: the adapt block of that phase moves what is described, and does not make it
 * before. 0, or -1 with text on all ranks; *hint as there. Collective over the first world: not on processes that join,
 * or restart.
 */
int describe_program_look_at_form(struct error *error);
int describe_program_look_at_data(bool moved, struct error *error, struct error *hint);

/* A look at all of it behind INIT, after the pack block, where no phase is to run. As above. */
int describe_program_inspect(struct error *error, struct error *hint);

/* What the program describes: [{"name", "kind", "bytes", "most", "constant", "scratch"}], with the bytes of all ranks
 * and of the rank that has the most. From cJSON; NULL: it describes nothing, or out of memory. Collective over
 * the world. */
EPOP_API cJSON *epop__describe_table(void);

/*
 * For processes that join, so that a resize is refused while nothing has moved if one of them describes something else.
 * The program's thread; local.
 */

/* On rank 0, when an elastic phase begins: {"list", "values", "divides"}, once; without the first two before data is
 * moved so, and where they are too much; the caller's. NULL: it was said before, or the data is made by the pack block.
 * moved: as above. */
cJSON *describe_program_tell(bool moved);
/* On a joining process, behind INIT: does it list what was told? 0, or -1 with text. */
int describe_program_compare(const cJSON *told, struct error *error);

/* What `pack` returns, with a line on stderr if that is not 0; EPOP_OK without such a block, or where the data is to
 * come. Collective as far as the block is. */
int describe_program_pack(void);

/* What `rebuild` returns; EPOP_OK without such a block. In a window the world is the new one meanwhile. Collective as
 * far as the block is. */
int describe_program_rebuild(void);

#endif
