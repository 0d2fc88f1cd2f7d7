/*
 * What travels between the parts of a job: requests of tools, reports of processes to the coordinator, its orders to
 * them, and events to tools that watch. Each is a row of messages.def, and a structure here: `struct request_resize`,
 * `struct report_count`, `struct order_target`. One decoder makes such a structure of a JSON object, or says which
 * member it does not take.
 */
#ifndef EPOP_WIRE_MESSAGES_H
#define EPOP_WIRE_MESSAGES_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

/* ---- The structures ------------------------------------------------------------------- */

struct ints {
    const int *items;
    int count;
};

struct texts {
    const char *const *items;
    int count;
};

struct named_int {
    const char *name;
    int value;
};

struct named_ints {
    const struct named_int *items;
    int count;
};

/* said: the whole object, for message_keep, and for who passes it on. */
#define ROW(kind, name, help)                                                                                          \
    struct kind##_##name {                                                                                             \
        const cJSON *said;
#define END                                                                                                            \
    }                                                                                                                  \
    ;
#define TRUTH(name, need, help)                       bool name;
#define MAYBE(name, need, help)                       int name;
#define SURELY(name, need, help)                      bool name;
#define INT(name, need, least, most, otherwise, help) int name;
#define NUMBER(name, need, numbers, otherwise, help)  int name;
#define WHOLE(name, need, least, otherwise, help)     int64_t name;
#define REAL(name, need, least, otherwise, help)      double name;
#define TEXT(name, need, form, least, most, help)     const char *name;
#define CHOICE(name, need, words, help)               const char *name;
#define WORD(name, need, words, otherwise, help)      int name;
#define TRUTH_OR(name, need, word, help)              int name;
#define INTS(name, need, least, distinct, help)       struct ints name;
#define TEXTS(name, need, help)                       struct texts name;
#define INT_OF(name, need, least, help)               struct named_ints name;
#define TEXT_OF(name, need, prefix, help)             const cJSON *name;
#define OBJECT(name, need, shape, help)               const struct shape_##shape *name;
#define LIST(name, need, shape, most, help)                                                                            \
    struct {                                                                                                           \
        const struct shape_##shape *items;                                                                             \
        int count;                                                                                                     \
    } name;
#define JSON(name, need, what, help) const cJSON *name;
#include "runtime/wire/messages.def"

/* ---- Their names ------------------------------------------------------------------------ */

/* For json_message; no other text, and none that is in no row. */
#define REQUEST(name)           MESSAGE_NAME(struct request_##name, #name)
#define REPORT(name)            MESSAGE_NAME(struct report_##name, #name)
#define ORDER(name)             MESSAGE_NAME(struct order_##name, #name)
#define MESSAGE_NAME(row, text) (&(text)[0 * sizeof(row)])

enum message_kind { KIND_SHAPE, KIND_REQUEST, KIND_REPORT, KIND_ORDER, KIND_EVENT };

/* The number of each row: request_resize_id, report_count_id, order_target_id. */
enum message_id {
    MESSAGE_NONE = -1,
#define ROW(kind, name, help) kind##_##name##_id,
#include "runtime/wire/messages.def"
    MESSAGE_IDS
};

/* The row's line of help; NULL: there is no such row. */
const char *message_help(enum message_kind kind, const char *name);

/* ---- Taking one apart ------------------------------------------------------------------- */

struct message {
    enum message_id id;           /* MESSAGE_NONE: there is no such row */
    const void *is;               /* the row's structure; NULL: it does not fit */
    struct message_block *blocks; /* that and its arrays; owned */
    cJSON *owned;                 /* if it was kept */
};

/* The row of that kind which the object's "op" names, or an event's "event". */
enum message_id message_named(enum message_kind kind, const cJSON *json);

/* Texts are those of the object, which has to stay until message_free. False with the reason: one line that names the
 * member which is missing, surplus, or not what it has to be; then there is nothing to be freed. */
bool message_decode(struct message *message, enum message_kind kind, const cJSON *json, struct error *why);

/* As the other was, for as long as that is wanted: of a copy of its own. said: that of its structure. False: out of
 * memory. */
bool message_keep(struct message *kept, enum message_kind kind, const cJSON *said);

/* It is empty then. */
void message_free(struct message *message);

/* ---- Requests of epopctl ------------------------------------------------------ */

#define REQUEST_STATUS     "status"
#define REQUEST_WHERE      "where"
#define REQUEST_MEASURE    "measure"
#define REQUEST_RESIZE     "resize"
#define REQUEST_PAUSE      "pause"
#define REQUEST_RESUME     "resume"
#define REQUEST_STOP       "stop"
#define REQUEST_CANCEL     "cancel"
#define REQUEST_WATCH      "watch" /* answered by the control plane itself */
#define REQUEST_BREAK      "break"
#define REQUEST_STEP       "step"
#define REQUEST_CONTINUE   "continue"
#define REQUEST_CHECKPOINT "checkpoint"
#define REQUEST_PSETS      "psets"

/* ---- A process to the coordinator, and the other way round ---------------------- */

#define MESSAGE_POSITION "position" /* where is your program's thread: asked, and answered */
#define MESSAGE_PROGRESS "progress" /* how far is the program, at the next probe: likewise */
#define MESSAGE_ALIVE    "alive"    /* is the process: asked, and answered */
#define MESSAGE_WAITS    "waits"    /* does your program's thread only wait in MPI: asked, and answered */
#define MESSAGE_MEET     "meet"     /* joiners of several launches: one is here; all are */
#define MESSAGE_CLOCK    "clock"    /* the clocks of two processes: asked, and answered */
#define MESSAGE_RECORD   "record"   /* records: wanted, and a part of them */
#define MESSAGE_GAUGE    "gauge"    /* what is measured, from here on: asked, and answered */
#define MESSAGE_AHEAD    "ahead"    /* constant data moves ahead of the window: begin, and it has come, or cannot */

/* ---- A process to the coordinator ----------------------------------------------- */

#define MESSAGE_HELLO     "hello"     /* it is attached */
#define MESSAGE_COUNT     "count"     /* to freeze: the probes it has passed */
#define MESSAGE_ARRIVED   "arrived"   /* it holds at a probe */
#define MESSAGE_ENDED     "ended"     /* it has ended the program */
#define MESSAGE_STRETCH   "stretch"   /* what it did in MPI up to its first probes after a commit */
#define MESSAGE_UNSTARTED "unstarted" /* joiners could not be spawned */
#define MESSAGE_READY     "ready"     /* a joiner can join, or cannot */
#define MESSAGE_PONG      "pong"
#define MESSAGE_LISTED    "listed"    /* its constant data, and where it listens */
#define MESSAGE_LINKED    "linked"    /* its connect came back, and it waits for that of the others */
#define MESSAGE_CONNECTED "connected" /* it has the window's communicators, or cannot have them */
#define MESSAGE_COMMITTED "committed" /* it is through the window */
#define MESSAGE_PARKED    "parked"    /* it left, and stands by */
#define MESSAGE_HOSTS     "hosts"     /* it left, and stays for the control plane */
#define MESSAGE_GONE      "gone"      /* it left, and ends */
#define MESSAGE_LOCATED   "located"   /* to locate */
#define MESSAGE_CLAIM     "claim"     /* of a roll call */
#define MESSAGE_BREACH    "breach"    /* of the contract, by itself */
#define MESSAGE_FAILED    "failed"    /* a block failed: the job ends */
#define MESSAGE_CRASHED   "crashed"
#define MESSAGE_REQUEST   "request"  /* the program asks for another size */
#define MESSAGE_LEAVE     "leave"    /* it was told to end, and its host with it */
#define MESSAGE_RECORDED  "recorded" /* all records that were wanted are sent */
#define MESSAGE_WRITE     "write"    /* the job fails: write the records */
#define MESSAGE_SAVED     "saved"    /* it has made its part of the checkpoint, or a copy of it, or could not */
#define MESSAGE_STORED    "stored"   /* that copy is on disk, or cannot be */
#define MESSAGE_KEPT      "kept"     /* to keep */
#define MESSAGE_ASK       "ask"      /* about process sets, and changes of them */

/* ---- The coordinator to a process ------------------------------------------------- */

#define MESSAGE_FREEZE     "freeze"
#define MESSAGE_TARGET     "target"
#define MESSAGE_RELEASE    "release"
#define MESSAGE_DECIDE     "decide"
#define MESSAGE_SAVE       "save"    /* where they hold: make one */
#define MESSAGE_KEEP       "keep"    /* all copies of the checkpoint are on disk, or one cannot be: end it so */
#define MESSAGE_SETTLED    "settled" /* what the first probe of joining processes was: count on by that */
#define MESSAGE_PING       "ping"
#define MESSAGE_LOCATE     "locate"    /* where are you, and since when */
#define MESSAGE_GAUGE_OFF  "gauge_off" /* measure no longer */
#define MESSAGE_HEARD      "heard"     /* the request */
#define MESSAGE_TOLD       "told"      /* the answer to an ask */
#define MESSAGE_OFF        "off"       /* a resource change that process sets were told of */
#define MESSAGE_WAKE       "wake"
#define MESSAGE_CALL_OFF   "call_off" /* the joining */
#define MESSAGE_PASSED     "passed"   /* the roll call */
#define MESSAGE_HALT       "halt"     /* wait in roll calls, or no longer */
#define MESSAGE_FINISH     "finish"   /* the program has ended everywhere */
#define MESSAGE_ABORT      "abort"    /* the job ends, for a reason that has been printed */
#define MESSAGE_DUMP       "dump"     /* your memory */
#define MESSAGE_WRITTEN    "written"  /* the records are */
#define MESSAGE_LIST       "list"     /* your constant data, at the next probe */
#define MESSAGE_AHEAD_OFF  "ahead_off"
#define MESSAGE_CONNECT    "connect" /* ahead of the window, as the next two */
#define MESSAGE_MERGE      "merge"
#define MESSAGE_DISCONNECT "disconnect"
#define MESSAGE_JOIN_END   "join_end" /* backend join: end at once */
#define MESSAGE_SPAWN      "spawn"    /* backend spawn, as the next */
#define MESSAGE_SPAWN_OFF  "spawn_off"

/* ---- Looking one up ----------------------------------------------------------------- */

/* A member that a message must have, and of which types (cJSON_Number, cJSON_True | cJSON_False, ...). */
struct message_member {
    const char *name;
    int types;
};

#define MESSAGE_BOOL (cJSON_True | cJSON_False)

/* The first member of each row of a table, beside the function that takes the message. */
struct message_form {
    const char *op;
    struct message_member needs[6];
};

/* A row that takes the message with whom the table is for. */
struct message_row {
    struct message_form form;
    void (*take)(void *context, const cJSON *message);
};

/* What a side understands besides; rows of the same context. */
struct message_table {
    const struct message_row *rows;
    size_t count;
    void *context;
};

/* The row for the message's op among `count` rows of `size` bytes; NULL: there is none. */
const void *message_find(const void *rows, size_t count, size_t size, const cJSON *message);

/* Has it what that form needs? If not: which member is missing, as a line of text. */
bool message_fits(const struct message_form *form, const cJSON *message, struct error *why);

/* The line for one that no table knows. */
void message_unknown(const cJSON *message, struct error *why);

/* Says on stderr that it was not understood, and why. */
void message_refuse(const struct error *why);

#endif
