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

struct named_text {
    const char *name, *value;
};

struct named_texts {
    const struct named_text *items;
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
#define RUNS(name, need, least, help)                 struct ints name;
#define TEXTS(name, need, help)                       struct texts name;
#define INT_OF(name, need, least, help)               struct named_ints name;
#define TEXT_OF(name, need, prefix, help)             struct named_texts name;
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

/* A row of what a side understands: the function gets the row's structure. TAKES makes such a function of one that
 * takes that structure alone. */
struct message_row {
    enum message_id id;
    void (*take)(void *context, const void *message);
};

#define TAKES(kind, name, function)                                                                                    \
    static void kind##_##name##_taken(void *context, const void *message)                                              \
    {                                                                                                                  \
        function(context, (const struct kind##_##name *)message);                                                      \
    }

/* What a side understands besides; rows of the same context. */
struct message_table {
    const struct message_row *rows;
    size_t count;
    void *context;
};

const struct message_row *message_row(const struct message_row *rows, size_t count, enum message_id id);

/* Says on stderr that it was not understood, and why. */
void message_refuse(const struct error *why);

#endif
