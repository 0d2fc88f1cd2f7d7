#include "driver/tune/levers.h"

#include <dlfcn.h>
#include <epop/tune.h>
#include <limits.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_RANGE 8 /* so many values are all tried; of a larger range, powers of two */

/* ---- Lists of values ---------------------------------------------------------------------------- */

/* In order, each once. False: there are too many. */
static bool insert(int *values, int *count, int most, int value)
{
    int at = 0;
    while (at < *count && values[at] < value)
        at++;
    if (at < *count && values[at] == value)
        return true;
    if (*count == most)
        return false;
    memmove(values + at + 1, values + at, (size_t)(*count - at) * sizeof *values);
    values[at] = value;
    ++*count;
    return true;
}

static bool read_int(const char **text, int *value)
{
    char *end;
    long read = strtol(*text, &end, 10);
    bool is = end > *text && read >= 0 && read <= INT_MAX;
    *value = (int)read;
    *text = end;
    return is;
}

int levers_read_list(const char *text, int *values, int most)
{
    int count = 0, from, to;
    do {
        if (!read_int(&text, &from))
            return -1;
        to = from;
        if (*text == '-' && (text++, !read_int(&text, &to)))
            return -1;
        if (to < from || (long)to - from >= most)
            return -1;
        for (int value = from; value <= to; value++)
            if (!insert(values, &count, most, value))
                return -1;
    } while (*text == ',' && *++text);
    return *text ? -1 : count;
}

static int index_of(const struct knob *knob, int value)
{
    for (int i = 0; i < knob->count; i++)
        if (knob->values[i] == value)
            return i;
    return -1;
}

/* The value that it has now belongs to the list. */
static void set_usual(struct knob *knob, int value)
{
    insert(knob->values, &knob->count, SEARCH_VALUES, value);
    knob->usual = index_of(knob, value);
    if (knob->usual < 0) { /* the list was full */
        knob->values[0] = value;
        knob->usual = 0;
    }
}

/* ---- Adding them -------------------------------------------------------------------------------- */

static struct knob *add(struct levers *l, enum lever_kind kind, const char *name)
{
    if (l->count == SEARCH_KNOBS)
        return NULL;
    struct lever *lever = &l->all[l->count];
    *lever = (struct lever){.kind = kind};
    snprintf(lever->name, sizeof lever->name, "%s", name);
    l->knobs[l->count] = (struct knob){.ranks = kind == LEVER_RANKS};
    return &l->knobs[l->count++];
}

static int add_list(struct levers *l, enum lever_kind kind, const char *name, const char *list, struct error *error)
{
    struct knob *knob = add(l, kind, name);
    if (!knob)
        return error_set(error, ERROR_REFUSED, "more than %d things to tune", SEARCH_KNOBS);
    knob->count = levers_read_list(list, knob->values, SEARCH_VALUES - 1);
    if (knob->count < 1)
        return error_set(error, ERROR_REFUSED, "'%s' is no list of numbers, as 1,2,4 or 1-4, of at most %d", list,
                         SEARCH_VALUES - 1);
    return 0;
}

/* Of a long range the powers of two, and its ends. */
static void add_range(struct knob *knob, int from, int to)
{
    if ((long long)to - from < SMALL_RANGE) {
        for (int value = from; value <= to; value++)
            insert(knob->values, &knob->count, SEARCH_VALUES - 1, value);
        return;
    }
    insert(knob->values, &knob->count, SEARCH_VALUES - 1, from);
    insert(knob->values, &knob->count, SEARCH_VALUES - 1, to);
    for (long long value = 1; value <= to; value *= 2)
        if (value >= from)
            insert(knob->values, &knob->count, SEARCH_VALUES - 1, (int)value);
}

/* Of a long list as many as there is room for, evenly spread. */
static void add_values(struct knob *knob, const epop_tunable_t *tunable)
{
    int most = SEARCH_VALUES - 1, count = tunable->count;
    for (int i = 0; i < count; i++)
        if (count <= most || contest_spreads_to(i, most, count))
            insert(knob->values, &knob->count, most, tunable->values[i]);
}

void levers_add_tunables(struct levers *l)
{
    const epop_tunable_t *tunable;
    for (int i = 0; (tunable = epop_tunable_at(i)); i++) {
        struct knob *knob = add(l, LEVER_TUNABLE, tunable->name);
        if (!knob)
            return;
        l->all[l->count - 1].index = i;
        knob->per_visit = tunable->per_visit;
        if (tunable->values)
            add_values(knob, tunable);
        else
            add_range(knob, tunable->from, tunable->to);
        set_usual(knob, *tunable->value);
    }
}

int levers_add_ranks(struct levers *l, const char *text, const epop_sizes_t *sizes, struct error *error)
{
    if (add_list(l, LEVER_RANKS, "ranks", text, error))
        return -1;
    struct knob *knob = &l->knobs[l->count - 1];
    int kept = 0;
    for (int i = 0; i < knob->count; i++)
        if (epop_sizes_accept(sizes, knob->values[i]))
            knob->values[kept++] = knob->values[i];
    knob->count = kept;
    if (kept)
        return 0;
    return error_set(error, ERROR_REFUSED, "of the sizes %s the phase accepts none", text);
}

/* ---- Control variables of MPI ------------------------------------------------------------------- */

bool levers_have_mpi(void)
{
    int begun, ended;
    PMPI_Initialized(&begun);
    PMPI_Finalized(&ended);
    return begun && !ended;
}

/* One whole number, which may be written while the program runs. */
static bool can_be_set(int variable, struct error *error, const char *name)
{
    int name_length = 0, text_length = 0, verbosity, binding, scope;
    MPI_Datatype type;
    MPI_T_enum names;
    if (MPI_T_cvar_get_info(variable, NULL, &name_length, &verbosity, &type, &names, NULL, &text_length, &binding,
                            &scope))
        error_set(error, ERROR_REFUSED, "the control variable %s cannot be looked at", name);
    else if (type != MPI_INT)
        error_set(error, ERROR_REFUSED, "the control variable %s is no whole number", name);
    else if (scope == MPI_T_SCOPE_CONSTANT || scope == MPI_T_SCOPE_READONLY)
        error_set(error, ERROR_REFUSED, "the control variable %s cannot be set while the program runs", name);
    else
        return true;
    return false;
}

/* NULL: with text. */
static void *open_cvar(const char *name, int *value, struct error *error)
{
    int provided, variable, count;
    MPI_T_cvar_handle handle;
    if (!levers_have_mpi()) {
        error_set(error, ERROR_REFUSED, "the program does not use MPI, which alone has the variable %s", name);
    } else if (MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) || MPI_T_cvar_get_index(name, &variable)) {
        error_set(error, ERROR_REFUSED, "this MPI library has no control variable %s", name);
    } else if (can_be_set(variable, error, name)) {
        if (!MPI_T_cvar_handle_alloc(variable, NULL, &handle, &count) && count == 1 && !MPI_T_cvar_read(handle, value))
            return handle;
        error_set(error, ERROR_REFUSED, "the control variable %s cannot be read", name);
    }
    return NULL;
}

int levers_add_cvar(struct levers *l, const char *text, struct error *error)
{
    char name[64];
    int value;
    const char *list = strchr(text, '=');
    if (!list || list == text || (size_t)(list - text) >= sizeof name)
        return error_set(error, ERROR_REFUSED, "--cvar: '%s' is not NAME=VALUE,...", text);
    snprintf(name, sizeof name, "%.*s", (int)(list - text), text);
    if (add_list(l, LEVER_CVAR, name, list + 1, error))
        return -1;
    void *handle = open_cvar(name, &value, error);
    if (!handle)
        return -1;
    l->all[l->count - 1].handle = handle;
    set_usual(&l->knobs[l->count - 1], value);
    return 0;
}

int levers_set_cvar(const char *name, int value)
{
    struct error error;
    int now;
    MPI_T_cvar_handle handle = open_cvar(name, &now, &error);
    if (!handle)
        return EPOP_ERR_STATE;
    int result = MPI_T_cvar_write(handle, &value);
    MPI_T_cvar_handle_free(&handle);
    return result ? EPOP_ERR_STATE : EPOP_OK;
}

/* ---- Threads ------------------------------------------------------------------------------------ */

struct symbol {
    const char *name;
    void *address;
};

static int look_in(struct dl_phdr_info *info, size_t size, void *context)
{
    struct symbol *symbol = context;
    (void)size;
    void *object = dlopen(info->dlpi_name[0] ? info->dlpi_name : NULL, RTLD_LAZY | RTLD_NOLOAD);
    if (!object)
        return 0;
    symbol->address = dlsym(object, symbol->name);
    dlclose(object);
    return !!symbol->address;
}

/* In whatever is loaded: a program's libraries are not in the global scope. */
static void *find_symbol(const char *name)
{
    struct symbol symbol = {.name = name};
    dl_iterate_phdr(look_in, &symbol);
    return symbol.address;
}

/* Those of loops by OpenMP, and of BLAS libraries that have threads of their own. */
static const char *const setters[] = {"omp_set_num_threads", "openblas_set_num_threads", "bli_thread_set_num_threads"};
static const char *const getters[] = {"omp_get_max_threads", "openblas_get_num_threads", "bli_thread_get_num_threads"};
enum { SETTERS = sizeof setters / sizeof *setters };

int levers_set_threads(int count)
{
    int result = EPOP_ERR_STATE;
    for (int i = 0; i < SETTERS; i++) {
        void (*set)(int);
        *(void **)&set = find_symbol(setters[i]);
        if (set) {
            set(count);
            result = EPOP_OK;
        }
    }
    return result;
}

static int threads_now(void)
{
    int most = 0;
    for (int i = 0; i < SETTERS; i++) {
        int (*get)(void);
        *(void **)&get = find_symbol(getters[i]);
        if (get && get() > most)
            most = get();
    }
    return most;
}

int levers_add_threads(struct levers *l, const char *text, struct error *error)
{
    int now = threads_now();
    if (add_list(l, LEVER_THREADS, "threads", text, error))
        return -1;
    if (!now)
        return error_set(error, ERROR_REFUSED, "--threads: the program has neither OpenMP nor a BLAS with threads");
    if (l->knobs[l->count - 1].values[0] < 1)
        return error_set(error, ERROR_REFUSED, "--threads: '%s': a rank has one thread at least", text);
    set_usual(&l->knobs[l->count - 1], now);
    return 0;
}

/* ---- Setting them ------------------------------------------------------------------------------- */

/* As it is now. */
static int value_now(const struct lever *lever, const struct knob *knob, int ranks)
{
    int value = knob->values[knob->usual];
    if (lever->kind == LEVER_RANKS)
        return ranks;
    if (lever->kind == LEVER_THREADS)
        return threads_now();
    if (lever->kind == LEVER_CVAR)
        MPI_T_cvar_read(lever->handle, &value);
    return value;
}

void levers_begin(struct levers *l, int ranks)
{
    for (int k = 0; k < l->count; k++)
        set_usual(&l->knobs[k], value_now(&l->all[k], &l->knobs[k], ranks));
}

int levers_set(const struct levers *l, const struct setting *setting)
{
    int ranks = 0;
    for (int k = 0; k < l->count; k++) {
        const struct lever *lever = &l->all[k];
        int value = l->knobs[k].values[setting->at[k]];
        switch (lever->kind) {
        case LEVER_TUNABLE:
            epop_tunable_set(lever->index, value);
            break;
        case LEVER_CVAR:
            MPI_T_cvar_write(lever->handle, &value);
            break;
        case LEVER_THREADS:
            levers_set_threads(value);
            break;
        case LEVER_RANKS:
            ranks = value;
            break;
        }
    }
    return ranks;
}

void levers_free(struct levers *l)
{
    for (int k = 0; k < l->count; k++)
        if (l->all[k].kind == LEVER_CVAR && l->all[k].handle && levers_have_mpi()) {
            MPI_T_cvar_handle handle = l->all[k].handle;
            MPI_T_cvar_handle_free(&handle);
        }
    l->count = 0;
}
