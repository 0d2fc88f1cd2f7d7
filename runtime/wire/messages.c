/* Taking messages apart by their rows: see messages.h. */
#include "runtime/wire/messages.h"

#include <limits.h>
#include <math.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json.h"
#include "runtime/base/say.h"

#define WHOLE_MOST 1e15 /* cJSON writes 15 digits */
#define LIST_MOST  100000
#define RUNS_MOST  (1 << 22)
#define TEXT_MOST  1000000
#define ANY_REAL   (-HUGE_VAL)

/* ---- The table ------------------------------------------------------------------------------ */

enum what {
    IS_NOTHING,
    IS_TRUTH,
    IS_MAYBE,
    IS_SURELY,
    IS_INT,
    IS_NUMBER,
    IS_WHOLE,
    IS_REAL,
    IS_TEXT,
    IS_CHOICE,
    IS_WORD,
    IS_TRUTH_OR,
    IS_INTS,
    IS_RUNS,
    IS_TEXTS,
    IS_INT_OF,
    IS_TEXT_OF,
    IS_OBJECT,
    IS_LIST,
    IS_JSON,
    RULE_SOME, /* from here on: no members, but what these have to do with each other, by `words` */
    RULE_ALONE,
    RULE_WITH,
    RULE_OPEN
};

enum need { MAY, MUST };
enum text_form { ANY_TEXT, LINE, HOSTS, HEX };

struct member_form {
    enum what what;
    const char *name;
    size_t offset;
    enum need need;
    double least, most, otherwise; /* of a text: characters; of a list: elements */
    const char *words;
    int more; /* the form of a text, whether integers are distinct, the row of a shape */
};

/* Each row's members, up to one that is nothing. They know their structure as `here`. */
#define ROW(kind, name, help)                                                                                          \
    static const struct member_form *kind##_##name##_members(void)                                                     \
    {                                                                                                                  \
        typedef struct kind##_##name here;                                                                             \
        static const struct member_form members[] = {
#define END                                                                                                            \
    {                                                                                                                  \
        .what = IS_NOTHING                                                                                             \
    }                                                                                                                  \
    }                                                                                                                  \
    ;                                                                                                                  \
    (void)sizeof(here);                                                                                                \
    return members;                                                                                                    \
    }
#define AT(member)                                    #member, offsetof(here, member)
#define TRUTH(name, need, help)                       {IS_TRUTH, AT(name), need, 0, 1, 0, NULL, 0},
#define MAYBE(name, need, help)                       {IS_MAYBE, AT(name), need, 0, 1, -1, NULL, 0},
#define SURELY(name, need, help)                      {IS_SURELY, AT(name), need, 1, 1, 0, NULL, 0},
#define INT(name, need, least, most, otherwise, help) {IS_INT, AT(name), need, least, most, otherwise, NULL, 0},
#define NUMBER(name, need, numbers, otherwise, help)  {IS_NUMBER, AT(name), need, 0, 0, otherwise, numbers, 0},
#define WHOLE(name, need, least, otherwise, help)     {IS_WHOLE, AT(name), need, least, WHOLE_MOST, otherwise, NULL, 0},
#define REAL(name, need, least, otherwise, help)      {IS_REAL, AT(name), need, least, HUGE_VAL, otherwise, NULL, 0},
#define TEXT(name, need, form, least, most, help)     {IS_TEXT, AT(name), need, least, most, 0, NULL, form},
#define CHOICE(name, need, words, help)               {IS_CHOICE, AT(name), need, 0, 0, 0, words, 0},
#define WORD(name, need, words, otherwise, help)      {IS_WORD, AT(name), need, 0, 0, otherwise, words, 0},
#define TRUTH_OR(name, need, word, help)              {IS_TRUTH_OR, AT(name), need, 0, 2, 0, word, 0},
#define INTS(name, need, least, distinct, help)       {IS_INTS, AT(name), need, least, INT_MAX, 0, NULL, distinct},
#define RUNS(name, need, least, help)                 {IS_RUNS, AT(name), need, least, INT_MAX, 0, NULL, 0},
#define TEXTS(name, need, help)                       {IS_TEXTS, AT(name), need, 0, 0, 0, NULL, 0},
#define INT_OF(name, need, least, help)               {IS_INT_OF, AT(name), need, least, INT_MAX, 0, NULL, 0},
#define TEXT_OF(name, need, prefix, help)             {IS_TEXT_OF, AT(name), need, 0, 0, 0, prefix, 0},
#define OBJECT(name, need, shape, help)               {IS_OBJECT, AT(name), need, 0, 0, 0, NULL, shape_##shape##_id},
#define LIST(name, need, shape, most, help)           {IS_LIST, AT(name), need, 0, most, 0, NULL, shape_##shape##_id},
#define JSON(name, need, what, help)                  {IS_JSON, AT(name), need, 0, 0, 0, #what, 0},
#define SOME(names)                                   {RULE_SOME, .words = names},
#define ALONE(names)                                  {RULE_ALONE, .words = names},
#define WITH(names)                                   {RULE_WITH, .words = names},
#define OPEN                                          {.what = RULE_OPEN},
#include "runtime/wire/messages.def"

enum {
    kind_shape = KIND_SHAPE,
    kind_request = KIND_REQUEST,
    kind_report = KIND_REPORT,
    kind_order = KIND_ORDER,
    kind_event = KIND_EVENT
};

static const struct form {
    enum message_kind kind;
    const char *name;
    size_t size;
    const struct member_form *(*members)(void);
    const char *help;
} forms[] = {
#define ROW(kind, name, help)                                                                                          \
    {(enum message_kind)kind_##kind, #name, sizeof(struct kind##_##name), kind##_##name##_members, help},
#include "runtime/wire/messages.def"
};

static enum message_id find(enum message_kind kind, const char *name)
{
    for (int id = 0; name && id < MESSAGE_IDS; id++)
        if (forms[id].kind == kind && !strcmp(forms[id].name, name))
            return (enum message_id)id;
    return MESSAGE_NONE;
}

/* Which member has it. */
static const char *name_of_name(enum message_kind kind)
{
    return kind == KIND_EVENT ? "event" : "op";
}

enum message_id message_named(enum message_kind kind, const cJSON *json)
{
    return find(kind, json_text(json, name_of_name(kind)));
}

const char *message_help(enum message_kind kind, const char *name)
{
    enum message_id id = find(kind, name);
    return id == MESSAGE_NONE ? NULL : forms[id].help;
}

static bool is_member(const struct member_form *m)
{
    return m->what < RULE_SOME;
}

static const struct member_form *member_called(const struct member_form *members, const char *name)
{
    for (const struct member_form *m = members; m->what; m++)
        if (is_member(m) && !strcmp(m->name, name))
            return m;
    return NULL;
}

/* ---- Room for what is taken apart --------------------------------------------------------------- */

struct message_block {
    struct message_block *next;
    alignas(max_align_t) char bytes[];
};

struct decoder {
    struct message *message;
    const char *name;  /* of the row */
    char path[80];     /* to the object inside it: "done[2]." */
    struct error *why; /* why it does not fit */
};

static void *take_room(struct decoder *d, size_t count, size_t size)
{
    struct message_block *block = calloc(1, sizeof *block + count * size);
    if (!block) {
        error_memory(d->why);
        return NULL;
    }
    block->next = d->message->blocks;
    d->message->blocks = block;
    return block->bytes;
}

void message_free(struct message *message)
{
    while (message->blocks) {
        struct message_block *block = message->blocks;
        message->blocks = block->next;
        free(block);
    }
    cJSON_Delete(message->owned);
    *message = (struct message){.id = MESSAGE_NONE};
}

/* ---- Texts ---------------------------------------------------------------------------------------- */

static bool is_hosts(const char *text)
{
    for (const char *p = text; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (!*p || *p == ',' || *p == '-')
            return false;
    return !strpbrk(text, " \t\r\n\v\f");
}

static bool is_of_form(const char *text, enum text_form form)
{
    switch (form) {
    case LINE:
        return !strchr(text, '\n');
    case HOSTS:
        return is_hosts(text);
    case HEX:
        return !text[strspn(text, "0123456789abcdef")];
    case ANY_TEXT:
        break;
    }
    return true;
}

/* As JSON counts them. */
static size_t characters(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

/* Which of "one|other" it is; -1: none. */
static int index_of(const char *words, const char *word)
{
    size_t length = strlen(word);
    int index = 0;
    for (const char *at = words;; at += strcspn(at, "|") + 1, index++) {
        if (strcspn(at, "|") == length && !strncmp(at, word, length))
            return index;
        if (!at[strcspn(at, "|")])
            return -1;
    }
}

/* ---- One member ------------------------------------------------------------------------------------- */

static bool is_integer(const cJSON *item, double least, double most)
{
    return cJSON_IsNumber(item) && item->valuedouble >= least && item->valuedouble <= most &&
           item->valuedouble == floor(item->valuedouble);
}

static bool read_truth(struct decoder *d, const struct member_form *m, const cJSON *item, void *to)
{
    (void)d;
    *(bool *)to = cJSON_IsTrue(item);
    return cJSON_IsTrue(item) || (m->what == IS_TRUTH && cJSON_IsFalse(item));
}

static bool read_maybe(struct decoder *d, const struct member_form *m, const cJSON *item, void *to)
{
    (void)d, (void)m;
    *(int *)to = cJSON_IsTrue(item);
    return cJSON_IsBool(item);
}

static bool read_int(struct decoder *d, const struct member_form *m, const cJSON *item, void *to)
{
    (void)d;
    if (!is_integer(item, m->least, m->most))
        return false;
    *(int *)to = (int)item->valuedouble;
    return true;
}

static bool read_number(struct decoder *d, const struct member_form *m, const cJSON *item, void *to)
{
    char text[24];
    (void)d;
    if (!is_integer(item, INT_MIN, INT_MAX))
        return false;
    *(int *)to = (int)item->valuedouble;
    snprintf(text, sizeof text, "%d", *(int *)to);
    return index_of(m->words, text) >= 0;
}

static bool read_whole(struct decoder *d, const struct member_form *m, const cJSON *item, void *to)
{
    (void)d;
    if (!is_integer(item, m->least, m->most))
        return false;
    *(int64_t *)to = (int64_t)item->valuedouble;
    return true;
}

static bool read_real(struct decoder *d, const struct member_form *m, const cJSON *item, void *to)
{
    (void)d;
    if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble) || item->valuedouble < m->least)
        return false;
    *(double *)to = item->valuedouble;
    return true;
}

static bool read_text(struct decoder *d, const struct member_form *m, const cJSON *item, void *to)
{
    const char *text = cJSON_GetStringValue(item);
    size_t length = text ? characters(text) : 0;
    (void)d;
    *(const char **)to = text;
    return text && length >= (size_t)m->least && length <= (size_t)m->most && is_of_form(text, (enum text_form)m->more);
}

static bool read_choice(struct decoder *d, const struct member_form *m, const cJSON *item, void *to)
{
    const char *text = cJSON_GetStringValue(item);
    (void)d;
    *(const char **)to = text;
    return text && index_of(m->words, text) >= 0;
}

static bool read_word(struct decoder *d, const struct member_form *m, const cJSON *item, void *to)
{
    const char *text = cJSON_GetStringValue(item);
    (void)d;
    *(int *)to = text ? index_of(m->words, text) : -1;
    return *(int *)to >= 0;
}

static bool read_truth_or(struct decoder *d, const struct member_form *m, const cJSON *item, void *to)
{
    const char *text = cJSON_GetStringValue(item);
    (void)d;
    *(int *)to = text ? 2 : cJSON_IsTrue(item);
    return text ? !strcmp(text, m->words) : cJSON_IsBool(item);
}

static int compare_ints(const void *a, const void *b)
{
    int one = *(const int *)a, other = *(const int *)b;
    return (one > other) - (one < other);
}

/* Of a sorted copy. */
static bool are_distinct(struct decoder *d, const int *items, int count)
{
    int *sorted = take_room(d, (size_t)count, sizeof *sorted);
    if (!sorted)
        return false;
    memcpy(sorted, items, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_ints);
    for (int i = 1; i < count; i++)
        if (sorted[i] == sorted[i - 1])
            return false;
    return true;
}

/* Room for so many as the array or object has; NULL: it is none, or too long. */
static void *room_for(struct decoder *d, const cJSON *item, bool is, double most, size_t size, int *count)
{
    *count = is ? cJSON_GetArraySize(item) : 0;
    return is && *count <= most ? take_room(d, (size_t)*count + 1, size) : NULL;
}

static bool read_ints(struct decoder *d, const struct member_form *m, const cJSON *item, void *to)
{
    struct ints *ints = to;
    const cJSON *one;
    int *items = room_for(d, item, cJSON_IsArray(item), LIST_MOST, sizeof *items, &ints->count), count = 0;
    ints->items = items;
    if (!items)
        return false;
    cJSON_ArrayForEach(one, item)
    {
        if (!read_int(d, m, one, &items[count++]))
            return false;
    }
    return !m->more || (count && are_distinct(d, items, count));
}

/* What an element stands for: from `first` on so many. False: it is none. */
static bool read_run(struct decoder *d, const struct member_form *m, const cJSON *item, int *first, int *count)
{
    static const struct member_form how_many = {.least = 1, .most = RUNS_MOST};
    const cJSON *one = cJSON_IsArray(item) ? item->child : item;
    *count = 1;
    if (!one || !read_int(d, m, one, first))
        return false;
    return one == item ||
           (one->next && !one->next->next && read_int(d, &how_many, one->next, count) && *first <= INT_MAX - *count);
}

static bool read_runs(struct decoder *d, const struct member_form *m, const cJSON *item, void *to)
{
    struct ints *ints = to;
    const cJSON *one;
    int total = 0, first, count, *items;
    cJSON_ArrayForEach(one, item)
    {
        if (!read_run(d, m, one, &first, &count) || count > RUNS_MOST - total)
            return false;
        total += count;
    }
    items = cJSON_IsArray(item) ? take_room(d, (size_t)total + 1, sizeof *items) : NULL;
    *ints = (struct ints){items, 0};
    if (!items)
        return false;
    cJSON_ArrayForEach(one, item)
    {
        read_run(d, m, one, &first, &count);
        for (int i = 0; i < count; i++)
            items[ints->count++] = first < 0 ? first : first + i;
    }
    return true;
}

static bool read_texts(struct decoder *d, const struct member_form *m, const cJSON *item, void *to)
{
    struct texts *texts = to;
    const cJSON *one;
    int count = 0;
    const char **items = room_for(d, item, cJSON_IsArray(item), LIST_MOST, sizeof *items, &texts->count);
    (void)m;
    texts->items = items;
    if (!items)
        return false;
    cJSON_ArrayForEach(one, item)
    {
        if (!(items[count++] = cJSON_GetStringValue(one)))
            return false;
    }
    return true;
}

static bool read_int_of(struct decoder *d, const struct member_form *m, const cJSON *item, void *to)
{
    struct named_ints *ints = to;
    const cJSON *one;
    int count = 0;
    struct named_int *items = room_for(d, item, cJSON_IsObject(item), LIST_MOST, sizeof *items, &ints->count);
    ints->items = items;
    if (!items || !ints->count)
        return false;
    cJSON_ArrayForEach(one, item)
    {
        items[count].name = one->string;
        if (!read_int(d, m, one, &items[count++].value))
            return false;
    }
    return true;
}

static bool read_text_of(struct decoder *d, const struct member_form *m, const cJSON *item, void *to)
{
    struct named_texts *texts = to;
    const cJSON *one;
    int count = 0;
    struct named_text *items = room_for(d, item, cJSON_IsObject(item), LIST_MOST, sizeof *items, &texts->count);
    texts->items = items;
    if (!items)
        return false;
    cJSON_ArrayForEach(one, item)
    {
        if (!cJSON_IsString(one) || strncmp(one->string, m->words, strlen(m->words)))
            return false;
        items[count++] = (struct named_text){one->string, one->valuestring};
    }
    return true;
}

static bool read_json(struct decoder *d, const struct member_form *m, const cJSON *item, void *to)
{
    (void)d;
    *(const cJSON **)to = item;
    return strcmp(m->words, "array") ? cJSON_IsObject(item) : cJSON_IsArray(item);
}

static bool read_members(struct decoder *d, const struct form *form, const cJSON *json, char *to);

/* Its members are what is said of it. */
static bool read_inside(struct decoder *d, const struct member_form *m, const cJSON *item, int index, void *to)
{
    size_t length = strlen(d->path);
    char place[16] = "";
    if (index >= 0)
        snprintf(place, sizeof place, "[%d]", index);
    snprintf(d->path + length, sizeof d->path - length, "%s%s.", m->name, place);
    bool fits = read_members(d, &forms[m->more], item, to);
    d->path[length] = '\0';
    return fits;
}

static bool read_object(struct decoder *d, const struct member_form *m, const cJSON *item, void *to)
{
    void *object = cJSON_IsObject(item) ? take_room(d, 1, forms[m->more].size) : NULL;
    memcpy(to, &object, sizeof object);
    return object && read_inside(d, m, item, -1, object);
}

static bool read_list(struct decoder *d, const struct member_form *m, const cJSON *item, void *to)
{
    struct {
        const void *items;
        int count;
    } list; /* as each LIST is one, with items of its own */
    size_t size = forms[m->more].size;
    const cJSON *one;
    int count = 0;
    char *items = room_for(d, item, cJSON_IsArray(item), m->most, size, &list.count);
    list.items = items;
    memcpy(to, &list, sizeof list);
    if (!items)
        return false;
    cJSON_ArrayForEach(one, item)
    {
        if (!cJSON_IsObject(one) || !read_inside(d, m, one, count, items + (size_t)count * size))
            return false;
        count++;
    }
    return true;
}

/* ---- What it has to be ---------------------------------------------------------------------------------- */

static void expect_number(const struct member_form *m, const char *what, char *text, size_t size)
{
    double most = m->what == IS_WHOLE || m->what == IS_REAL ? HUGE_VAL : m->most;
    if (m->least < -INT_MAX && most > INT_MAX - 1)
        snprintf(text, size, "%s", what);
    else if (most > INT_MAX)
        snprintf(text, size, "%s of %.0f or more", what, m->least);
    else
        snprintf(text, size, "%s from %.0f to %.0f", what, m->least, most);
}

static void expect_text(const struct member_form *m, char *text, size_t size)
{
    static const char *const forms_of_texts[] = {[ANY_TEXT] = "a text",
                                                 [LINE] = "a line of text",
                                                 [HOSTS] = "host names with commas between them",
                                                 [HEX] = "hexadecimal digits"};
    const char *what = forms_of_texts[m->more];
    if (m->most >= TEXT_MOST)
        snprintf(text, size, "%s", what);
    else
        snprintf(text, size, "%s of %.0f to %.0f characters", what, m->least, m->most);
}

/* "one of a|b" reads better with commas. */
static void expect_words(const char *words, char *text, size_t size)
{
    int length = snprintf(text, size, "one of ");
    for (const char *at = words; *at && (size_t)length < size - 3; at++)
        length += snprintf(text + length, size - (size_t)length, *at == '|' ? ", " : "%c", *at);
}

static const struct kind {
    bool (*read)(struct decoder *d, const struct member_form *m, const cJSON *item, void *to);
    const char *expected; /* NULL: that depends on the member */
} kinds[] = {
    [IS_TRUTH] = {read_truth, "true or false"},
    [IS_MAYBE] = {read_maybe, "true or false"},
    [IS_SURELY] = {read_truth, "true"},
    [IS_INT] = {read_int, NULL},
    [IS_NUMBER] = {read_number, NULL},
    [IS_WHOLE] = {read_whole, NULL},
    [IS_REAL] = {read_real, NULL},
    [IS_TEXT] = {read_text, NULL},
    [IS_CHOICE] = {read_choice, NULL},
    [IS_WORD] = {read_word, NULL},
    [IS_TRUTH_OR] = {read_truth_or, NULL},
    [IS_INTS] = {read_ints, NULL},
    [IS_RUNS] = {read_runs, "a list of integers and of pairs [first, how many]"},
    [IS_TEXTS] = {read_texts, "a list of texts"},
    [IS_INT_OF] = {read_int_of, NULL},
    [IS_TEXT_OF] = {read_text_of, NULL},
    [IS_OBJECT] = {read_object, "an object"},
    [IS_LIST] = {read_list, "a list of objects"},
    [IS_JSON] = {read_json, NULL},
};

static void expect(const struct member_form *m, char *text, size_t size)
{
    char each[80];
    if (kinds[m->what].expected)
        snprintf(text, size, "%s", kinds[m->what].expected);
    else if (m->what == IS_TEXT)
        expect_text(m, text, size);
    else if (m->what == IS_JSON)
        snprintf(text, size, "an %s", m->words);
    else if (m->what == IS_TRUTH_OR)
        snprintf(text, size, "true, false or \"%s\"", m->words);
    else if (m->what == IS_TEXT_OF)
        snprintf(text, size, "an object of texts%s%s", *m->words ? ", their names beginning with " : "", m->words);
    else if (m->words)
        expect_words(m->words, text, size);
    else if (m->what != IS_INTS && m->what != IS_INT_OF)
        expect_number(m, m->what == IS_REAL ? "a number" : "an integer", text, size);
    else {
        expect_number(m, "integers", each, sizeof each);
        snprintf(text, size, "%s of %s%s", m->what == IS_INTS ? "a list" : "an object", each,
                 m->more ? ", at least one and none twice" : "");
    }
}

/* ---- All of them --------------------------------------------------------------------------------------------- */

enum { SHOWN = 64 };

/* Its beginning in one line, whatever it is. */
static void show(const cJSON *item, char text[SHOWN])
{
    char *whole = cJSON_PrintUnformatted(item);
    size_t length = (size_t)snprintf(text, SHOWN, "%s", whole ? whole : "what it is");
    if (length >= SHOWN) {
        length = SHOWN - 4;
        while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--; /* not in the middle of a character */
        memcpy(text + length, "...", 4);
    }
    cJSON_free(whole);
}

static void show_text(const char *name, char text[SHOWN])
{
    cJSON *item = cJSON_CreateString(name);
    show(item, text);
    cJSON_Delete(item);
}

/* The first reason counts: it is about the innermost object. item NULL: it is missing. */
static bool refuse_member(struct decoder *d, const struct member_form *m, const cJSON *item)
{
    char text[300], shown[SHOWN];
    expect(m, text, sizeof text);
    show(item, shown);
    if (!d->why->code && !item)
        error_set(d->why, ERROR_FAILED, "'%s' needs a member '%s%s': %s", d->name, d->path, m->name, text);
    else if (!d->why->code)
        error_set(d->why, ERROR_FAILED, "'%s%s' of '%s' has to be %s, not %s", d->path, m->name, d->name, text, shown);
    return false;
}

static void set_default(const struct member_form *m, char *to)
{
    if (m->what == IS_INT || m->what == IS_NUMBER || m->what == IS_WORD || m->what == IS_MAYBE)
        *(int *)to = (int)m->otherwise;
    else if (m->what == IS_WHOLE)
        *(int64_t *)to = (int64_t)m->otherwise;
    else if (m->what == IS_REAL)
        *(double *)to = m->otherwise;
}

/* What the object must have, and what it has. */
static bool read_named(struct decoder *d, const struct member_form *members, const cJSON *json, char *to)
{
    for (const struct member_form *m = members; m->what; m++) {
        const cJSON *item = is_member(m) ? cJSON_GetObjectItemCaseSensitive(json, m->name) : NULL;
        if (!is_member(m))
            continue;
        if (!item && m->need == MUST)
            return refuse_member(d, m, NULL);
        if (!item)
            set_default(m, to + m->offset);
        else if (!kinds[m->what].read(d, m, item, to + m->offset))
            return refuse_member(d, m, item);
    }
    return true;
}

/* Whether the member "a" of "a b c" at *at is there; *at goes on to the next. */
static bool has_next(const cJSON *json, const char **at, char name[40])
{
    size_t length = strcspn(*at, " ");
    snprintf(name, 40, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == ' ');
    return cJSON_GetObjectItemCaseSensitive(json, name);
}

static bool keeps_rule(struct decoder *d, const struct member_form *rule, const cJSON *json)
{
    char first[40] = "", name[40];
    const char *at = rule->words;
    bool has_first = at && has_next(json, &at, first), has_other = false;
    while (at && *at)
        has_other |= has_next(json, &at, name);
    if (rule->what == RULE_SOME && !has_first && !has_other)
        return error_set(d->why, ERROR_FAILED, "'%s' needs one of the members %s", d->name, rule->words), false;
    if (rule->what == RULE_ALONE && has_first && has_other)
        return error_set(d->why, ERROR_FAILED, "'%s' of '%s' goes without '%s'", first, d->name, name), false;
    if (rule->what == RULE_WITH && has_first && !has_other)
        return error_set(d->why, ERROR_FAILED, "'%s' of '%s' goes with '%s', which is missing", first, d->name, name),
               false;
    return true;
}

/* What the transport has besides is none of the row's. */
static bool is_of_transport(const struct form *form, const cJSON *item)
{
    if (form->kind == KIND_SHAPE)
        return false;
    return !strcmp(item->string, name_of_name(form->kind)) ||
           (form->kind == KIND_REQUEST && !strcmp(item->string, "id") && is_integer(item, 0, WHOLE_MOST));
}

static bool has_no_other(struct decoder *d, const struct form *form, const cJSON *json)
{
    const struct member_form *members = form->members();
    const cJSON *item;
    char shown[SHOWN];
    cJSON_ArrayForEach(item, json)
    {
        if (!is_of_transport(form, item) && !member_called(members, item->string)) {
            show_text(item->string, shown);
            error_set(d->why, ERROR_FAILED, "'%s' has no member %s%s", d->name, d->path, shown);
            return false;
        }
    }
    return true;
}

static bool read_members(struct decoder *d, const struct form *form, const cJSON *json, char *to)
{
    const struct member_form *members = form->members();
    bool open = false, fits = read_named(d, members, json, to);
    *(const cJSON **)to = json; /* `said` */
    for (const struct member_form *m = members; fits && m->what; m++) {
        open |= m->what == RULE_OPEN;
        fits = is_member(m) || keeps_rule(d, m, json);
    }
    return fits && (open || has_no_other(d, form, json));
}

static void refuse_name(enum message_kind kind, const cJSON *json, struct error *why)
{
    const cJSON *op = cJSON_GetObjectItemCaseSensitive(json, name_of_name(kind));
    const char *what = kind == KIND_REQUEST ? "a request" : "a message";
    char shown[SHOWN];
    show(op, shown);
    if (!cJSON_IsString(op))
        error_set(why, ERROR_FAILED, "%s without a name, its text \"%s\", is not understood", what, name_of_name(kind));
    else
        error_set(why, ERROR_FAILED, "%s %s is not understood: this EPOP does not know it (\"%s\")", what, shown,
                  name_of_name(kind));
}

bool message_decode(struct message *message, enum message_kind kind, const cJSON *json, struct error *why)
{
    enum message_id id = message_named(kind, json);
    *message = (struct message){.id = id};
    *why = (struct error){0};
    if (id == MESSAGE_NONE) {
        refuse_name(kind, json, why);
        return false;
    }
    struct decoder d = {.message = message, .name = forms[id].name, .why = why};
    void *to = take_room(&d, 1, forms[id].size);
    if (to && read_members(&d, &forms[id], json, to)) {
        message->is = to;
        return true;
    }
    message_free(message);
    message->id = id;
    return false;
}

bool message_keep(struct message *kept, enum message_kind kind, const cJSON *said)
{
    struct error why;
    cJSON *copy = cJSON_Duplicate(said, 1);
    if (copy && message_decode(kept, kind, copy, &why)) {
        kept->owned = copy;
        return true;
    }
    cJSON_Delete(copy);
    *kept = (struct message){.id = MESSAGE_NONE};
    return false;
}

/* ---- Who takes it -------------------------------------------------------------------------------------------------
 */

const struct message_row *message_row(const struct message_row *rows, size_t count, enum message_id id)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].id == id)
            return &rows[i];
    return NULL;
}

void message_refuse(const struct error *why)
{
    say_line("%s", why->text);
}
