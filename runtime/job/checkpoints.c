/* Checkpoints of the job: where they are, which one it goes on from, and making new ones. */
#include "runtime/job/checkpoints.h"

#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "epop_api/program.h"
#include "runtime/base/clock.h"
#include "runtime/base/ending.h"
#include "runtime/base/say.h"
#include "runtime/base/thread.h"
#include "runtime/base/tried.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/files.h"
#include "runtime/checkpoint/hdf5.h"
#include "runtime/checkpoint/memory.h"
#include "runtime/checkpoint/owner.h"
#include "runtime/describe/program.h"
#include "runtime/job/state.h"
#include "runtime/job/supervised.h"
#include "runtime/wire/messages.h"
#include "runtime/world/world.h"

#define END_LIMIT    10 /* seconds */
#define STATUS_USAGE 2

static const struct store_table *const stores[SAVE_LEVELS] = {[SAVE_FILE] = &store_file, [SAVE_MEMORY] = &store_memory};

static struct {
    struct checkpoint_options options;
    const epop_program_t *program;
    struct checkpoint_head own;
    char directory[PATH_MAX]; /* of the files, without links */
    char name[NAME_MAX];      /* "": that of the job */
    /* what it goes on from */
    char from[PATH_MAX]; /* "": nothing */
    enum save_level from_level;
    double from_time;
    struct position at;
    int from_number, number, restarts;
    struct rotation_file *files; /* that there are of this name, the oldest first */
    size_t count;
} checkpoints;

/* ---- What the job is told ---------------------------------------------------------------- */

static bool is_set(const char *text)
{
    return text && text[0];
}

static int read_every(const char *variable, const char *text, double *seconds, struct error *error)
{
    if (*seconds > 0 || !is_set(text) || !duration_read(text, seconds))
        return 0;
    return error_set(error, ERROR_FAILED, "%s wants a time, as 30s, 10m or 1h; not '%.40s'", variable, text);
}

static int read_keep(int *keep, struct error *error)
{
    const char *text = getenv("EPOP_CHECKPOINT_KEEP");
    char more;
    if (*keep > 0 || !is_set(text) || (sscanf(text, "%d%c", keep, &more) == 1 && *keep > 0))
        return 0;
    return error_set(error, ERROR_FAILED, "EPOP_CHECKPOINT_KEEP wants a number of files from 1 on, not '%.40s'", text);
}

static int read_flag(const char *variable, const char *text, bool *flag, struct error *error)
{
    if (*flag || !is_set(text) || !strcmp(text, "0"))
        return 0;
    *flag = !strcmp(text, "1");
    return *flag ? 0 : error_set(error, ERROR_FAILED, "%s wants 1 or 0, not '%.40s'", variable, text);
}

int checkpoints_read(const struct job_options *options, const epop_program_t *program, struct error *error)
{
    struct checkpoint_options *own = &checkpoints.options;
    *own = options->checkpoint;
    checkpoints.program = options->executable ? NULL : program;
    if (!is_set(own->directory))
        own->directory = getenv("EPOP_CHECKPOINT_DIR");
    if (!is_set(own->restart))
        own->restart = getenv("EPOP_RESTART");
    if (read_every("EPOP_CHECKPOINT_EVERY", getenv("EPOP_CHECKPOINT_EVERY"), &own->every, error) ||
        read_every("EPOP_CHECKPOINT_MEMORY", getenv("EPOP_CHECKPOINT_MEMORY"), &own->memory, error) ||
        read_keep(&own->keep, error) ||
        read_flag("EPOP_CHECKPOINT_ASYNC", getenv("EPOP_CHECKPOINT_ASYNC"), &own->behind, error) ||
        read_flag("EPOP_NEW_ARGUMENTS", getenv("EPOP_NEW_ARGUMENTS"), &own->new_arguments, error))
        return -1;
    checkpoints.own.new_arguments = own->new_arguments;
    return owner_make(checkpoints.program, program->name, own->arguments, &checkpoints.own) ? error_memory(error) : 0;
}

/* ---- The directory ------------------------------------------------------------------------- */

static int find_directory(struct error *error)
{
    const char *named = is_set(checkpoints.options.directory) ? checkpoints.options.directory : ".";
    if (mkdir(named, 0777) && errno != EEXIST)
        return error_set(error, ERROR_FAILED, "the directory for checkpoints, %.2000s, cannot be made: %s", named,
                         strerror(errno));
    if (!realpath(named, checkpoints.directory))
        return error_set(error, ERROR_FAILED, "the directory for checkpoints, %.2000s: %s", named, strerror(errno));
    if (strlen(checkpoints.directory) + NAME_MAX >= SAVE_PATH)
        return error_set(error, ERROR_FAILED, "the directory for checkpoints, %.2000s, has too long a name", named);
    if (is_set(checkpoints.options.directory) && access(checkpoints.directory, W_OK | X_OK))
        return error_set(error, ERROR_FAILED, "the directory for checkpoints, %.2000s: %s", named, strerror(errno));
    return 0;
}

/* The number of the file that this one has its constant arrays from. */
static int base_of(const struct checkpoint_file *file)
{
    char **names, name[NAME_MAX];
    int count = 0, base = file->number;
    struct error unheard;
    if (store_file.needs(file->path, &names, &count, &unheard))
        return base;
    for (int i = 0; i < count; i++) {
        files_name(names[i], name, sizeof name, &base);
        free(names[i]);
    }
    free(names);
    return base;
}

/* Files of earlier runs of the same name count as this one's. */
static int take_over(struct error *error)
{
    struct checkpoint_file *files;
    size_t count;
    if (files_list(checkpoints.directory, checkpoints.name, &files, &count, error))
        return -1;
    checkpoints.files = calloc(count + 1, sizeof *checkpoints.files);
    for (size_t i = 0; checkpoints.files && i < count; i++) {
        const struct checkpoint_file *file = &files[count - 1 - i];
        checkpoints.files[checkpoints.count++] = (struct rotation_file){file->number, base_of(file)};
        if (file->number > checkpoints.number)
            checkpoints.number = file->number;
    }
    files_free(files, count);
    return checkpoints.files ? 0 : error_memory(error);
}

static bool is_in_directory(const char *path)
{
    char own[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(own, sizeof own, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    char *real = realpath(own[0] ? own : "/", NULL);
    bool same = real && !strcmp(real, checkpoints.directory);
    free(real);
    return same;
}

/* ---- Going on -------------------------------------------------------------------------------- */

static void note_head(const struct checkpoint_head *head, enum save_level level)
{
    checkpoints.at = head->at;
    checkpoints.from_level = level;
    checkpoints.from_time = head->time;
    checkpoints.from_number = checkpoints.number = head->number;
    checkpoints.restarts = head->restarts + 1;
}

static int find_restart(struct error *error)
{
    struct checkpoint_head head = {0};
    int number;
    if (restart_choose(checkpoints.options.restart, &checkpoints.own, checkpoints.from, &head, error))
        return -1;
    note_head(&head, SAVE_FILE);
    checkpoint_head_free(&head);
    if (!files_name(checkpoints.from, checkpoints.name, sizeof checkpoints.name, &number) ||
        !is_in_directory(checkpoints.from))
        checkpoints.name[0] = 0;
    return checkpoints.name[0] ? take_over(error) : 0;
}

/* What this job has made before it died: the newest of memory and files; else what it went on from itself, or nothing.
 * Other jobs of the same program may have written into that directory, too. */
static int find_recovery(struct error *error)
{
    const struct checkpoint_head *memory = supervised_found();
    struct checkpoint_head file = {0};
    struct error unheard;
    char path[PATH_MAX] = "";
    if (restart_choose(checkpoints.directory, &checkpoints.own, path, &file, &unheard) ||
        file.time < supervised_since())
        file.number = 0;
    if (file.number > memory->number) {
        snprintf(checkpoints.from, sizeof checkpoints.from, "%s", path);
        note_head(&file, SAVE_FILE);
    } else if (memory->number) {
        snprintf(checkpoints.from, sizeof checkpoints.from, "%s", supervised_memory());
        note_head(memory, SAVE_MEMORY);
    }
    bool found = file.number || memory->number;
    checkpoint_head_free(&file);
    return !found && is_set(checkpoints.options.restart) ? find_restart(error) : 0;
}

/* A job under a launcher of its own is told so, and runs. */
static void check_memory(void)
{
    memory_is_quiet = job.options.quiet || supervised_again();
    if (checkpoints.options.memory > 0 && !supervised_memory()) {
        ending_say(
            "note: --checkpoint-memory does nothing here: it goes with epop --recover, as the outermost command");
        checkpoints.options.memory = 0;
    }
}

int checkpoints_open(struct error *error)
{
    check_memory();
    bool told = checkpoints.options.every > 0 || checkpoints.options.memory > 0;
    if ((told || is_set(checkpoints.options.restart)) && checkpoints.program &&
        !epop__program_blocks(checkpoints.program).describe)
        return error_set(error, ERROR_FAILED, "%s has no describe block, so there is nothing to %s",
                         checkpoints.program->name, told ? "save" : "restart");
    if (find_directory(error))
        return -1;
    if (supervised_again())
        return find_recovery(error);
    return is_set(checkpoints.options.restart) ? find_restart(error) : 0;
}

void checkpoints_share(void)
{
    MPI_Bcast(&checkpoints.at, sizeof checkpoints.at, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Bcast(checkpoints.from, sizeof checkpoints.from, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(&checkpoints.from_level, sizeof checkpoints.from_level, MPI_BYTE, 0, MPI_COMM_WORLD);
}

bool checkpoints_restarting(void)
{
    return checkpoints.from[0];
}

const struct position *checkpoints_position(void)
{
    return &checkpoints.at;
}

static void end_with(const char *text) __attribute__((noreturn));
static void end_with(const char *text)
{
    if (world.rank > 0)
        sleep(END_LIMIT); /* rank 0 ends us all before this is over */
    ending_end(text, STATUS_USAGE);
}

void checkpoints_load(void)
{
    struct error error = {0};
    const struct checkpoint_data data = {describe_program.describe, describe_program.data, NULL};
    if (checkpoint_load(stores[checkpoints.from_level], world.comm, checkpoints.from, &data, &checkpoints.own, &error))
        end_with(error.text);
    describe_program.whole = true;
    if (describe_program_rebuild() != EPOP_OK)
        end_with("the rebuild block failed behind a restart");
    if (job.member.process == 0)
        supervised_runs(save_level_name(checkpoints.from_level), checkpoints.from_number, checkpoints.from_time);
}

/* ---- The coordinator ---------------------------------------------------------------------------- */

void checkpoints_config(const char *job_id, struct checkpoint_config *config)
{
    if (!checkpoints.name[0])
        snprintf(checkpoints.name, sizeof checkpoints.name, "%s", job_id);
    *config = (struct checkpoint_config){
        .every = {[SAVE_FILE] = checkpoints.options.every, [SAVE_MEMORY] = checkpoints.options.memory},
        .directory = checkpoints.directory,
        .name = checkpoints.name,
        .keep = checkpoints.options.keep,
        .behind = checkpoints.options.behind,
        .end_timeout = STORING_LIMIT,
        .number = checkpoints.number,
        .restarts = checkpoints.restarts,
        .from = checkpoints.from[0] ? checkpoints.from : NULL,
        .from_number = checkpoints.from_number,
        .from_at = checkpoints.at,
        .files = checkpoints.files,
        .count = checkpoints.count};
}

/* The module for files, if it is there; for --verbose a line on its library, once. */
static bool have_files(struct error *why)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    char version[32], untried[TRIED_TEXT];
    const struct hdf5_module *module = hdf5_load(why);
    if (!module || !job.options.verbose || atomic_flag_test_and_set(&told))
        return module;
    module->library(version);
    if (!tried_with("HDF5", version, untried))
        say_line("note: %s", untried);
    return true;
}

bool checkpoints_possible(enum save_level level, struct error *why)
{
    if (checkpoints.program && !epop__program_blocks(checkpoints.program).describe) {
        error_set(why, ERROR_REFUSED, "%s has no describe block, so there is nothing to save",
                  checkpoints.program->name);
        return false;
    }
    if (level == SAVE_MEMORY && !supervised_memory())
        error_set(why, ERROR_REFUSED, "--checkpoint-memory goes with epop --recover, which would start the job again");
    else
        return level != SAVE_FILE || have_files(why);
    return false;
}

void checkpoints_forget(const char *path)
{
    unlink(path);
}

/* ---- One that is written while the program goes on ---------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool on, complete;
    const struct store_table *store;
    struct checkpoint_async behind;
    int number;
    uint64_t count; /* of the probe at which it was made */
} storing = {.lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};

static void written(void *context, const struct error *error)
{
    (void)context;
    member_stored(&job.member, storing.number, error ? error->text : NULL);
}

/* One is about to be made: what checkpoint_take wants. It stays ours. On the program's thread, as the next. */
static struct checkpoint_async *storing_begin(const struct store_table *store, int number)
{
    pthread_mutex_lock(&storing.lock);
    while (storing.on) /* the one before is ended, which the coordinator has just been told */
        pthread_cond_wait(&storing.over, &storing.lock);
    storing.on = true;
    storing.store = store;
    storing.number = number;
    storing.count = ceiling_count(&job.member.ceiling);
    storing.behind = (struct checkpoint_async){.listener = {written, NULL}};
    pthread_mutex_unlock(&storing.lock);
    return &storing.behind;
}

/* It is, or it could not be made. */
static void storing_is_over(void)
{
    pthread_mutex_lock(&storing.lock);
    storing.on = false;
    pthread_cond_broadcast(&storing.over);
    pthread_mutex_unlock(&storing.lock);
}

/* Process 0 tells the supervisor of a file that has its name, or is about to get it by another process. */
static void *settle_stored(void *unused)
{
    struct error error = {0};
    int result = storing.store->settle(storing.behind.file, storing.complete, &error);
    (void)unused;
    if (!result && storing.complete && job.member.process == 0)
        supervised_saved(storing.number, storing.count);
    member_kept(&job.member, storing.number, result ? error.text : NULL);
    storing_is_over();
    return NULL;
}

/* A file gets its name, and its directory is synced: the disk may be busy, and the control thread has to answer. */
void checkpoints_keep(void *context, const struct order_keep *order)
{
    pthread_t thread;
    (void)context;
    pthread_mutex_lock(&storing.lock);
    bool ours = storing.on && order->number == storing.number;
    storing.complete = order->complete;
    pthread_mutex_unlock(&storing.lock);
    if (!ours)
        return;
    if (thread_start(&thread, settle_stored, NULL))
        settle_stored(NULL);
    else
        pthread_detach(thread);
}

void checkpoints_await_disk(double seconds)
{
    const struct timespec until = clock_in(CLOCK_MONOTONIC, seconds);
    int failed = 0;
    pthread_mutex_lock(&storing.lock);
    while (storing.on && !failed)
        failed = pthread_cond_clockwait(&storing.over, &storing.lock, CLOCK_MONOTONIC, &until);
    pthread_mutex_unlock(&storing.lock);
}

/* ---- Making one ------------------------------------------------------------------------------- */

static int take_checkpoint(const struct save_order *order, const struct position *at, struct checkpoint_taken *taken,
                           struct error *error)
{
    const struct checkpoint_data data = {describe_program.describe, describe_program.data, describe_program.pack};
    struct checkpoint_head head = {
        .at = *at, .size = world.size, .number = order->number, .restarts = order->restarts, .time = wall_seconds()};
    if (!data.describe)
        return error_set(error, ERROR_REFUSED, "it has not said what its data is: epop_mpi_describe does that");
    /* One that has parked and joined again has loaded it afresh. */
    const epop_program_t *program = checkpoints.program ? atomic_load(&job.member.live.program) : NULL;
    if (owner_make(program, checkpoints.own.program, checkpoints.options.arguments, &head))
        return error_memory(error);
    const char *path = order->level == SAVE_MEMORY ? supervised_memory() : order->path;
    struct checkpoint_async *behind = order->behind ? storing_begin(stores[order->level], order->number) : NULL;
    int result =
        checkpoint_take(stores[order->level], world.comm, path, order->base, &data, behind, &head, taken, error);
    if (behind && result)
        storing_is_over();
    checkpoint_head_free(&head);
    return result;
}

void checkpoints_make(const struct position *at)
{
    struct error error = {0};
    struct checkpoint_taken taken = {0};
    const struct save_order order = job.member.order;
    int result = take_checkpoint(&order, at, &taken, &error);
    if (!result && job.member.process == 0 && !order.behind)
        supervised_saved(order.number, ceiling_count(&job.member.ceiling));
    member_saved(&job.member, &(struct saved){.number = order.number,
                                              .failure = result ? error.text : NULL,
                                              .bytes = taken.bytes,
                                              .linked = taken.linked});
}
