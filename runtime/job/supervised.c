/* The job and its supervisor, `epop --recover`. */
#include "runtime/job/supervised.h"

#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/base/thread.h"
#include "runtime/checkpoint/memory.h"
#include "runtime/checkpoint/memory_place.h"
#include "runtime/control/supervisor.h"
#include "runtime/job/state.h"

/* ---- Going on after a fault ----------------------------------------------------------------------- */

static struct checkpoint_head found;

bool supervised_again(void)
{
    return supervisor_recoveries() > 0;
}

const char *supervised_memory(void)
{
    const char *path = supervisor_is_there() ? getenv(MEMORY_PLACE) : NULL;
    return path && path[0] ? path : NULL;
}

void supervised_look(void)
{
    struct error unheard;
    void *file;
    MPI_Comm launch;
    if (!supervised_again() || !supervised_memory())
        return;
    MPI_Comm_dup(MPI_COMM_WORLD, &launch);
    if (!store_memory.open(supervised_memory(), launch, &found, &file, &unheard))
        store_memory.close(file);
    MPI_Comm_free(&launch);
}

const struct checkpoint_head *supervised_found(void)
{
    return &found;
}

double supervised_since(void)
{
    const char *text = getenv(SUPERVISOR_SINCE);
    return text ? strtod(text, NULL) : 0;
}

/* ---- What the job tells --------------------------------------------------------------------------- */

static const double apart = 0.2; /* seconds */

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool runs, ends;
} teller = {.lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};

static void supervised_say(cJSON *message)
{
    supervisor_say(message);
    cJSON_Delete(message);
}

/* Where it was said to be. */
struct place {
    uint64_t count;
    int size, pc;
    int64_t iteration;
};

/* How many iterations were lost is known from the last of these. */
static void say_where(struct member *member, struct place *last)
{
    const struct live_position *live = &member->live;
    const epop_program_t *program = atomic_load(&live->program);
    struct place place = {.count = ceiling_count(&member->ceiling),
                          .size = atomic_load(&live->size),
                          .pc = atomic_load(&live->pc),
                          .iteration = atomic_load(&live->iteration)};
    if (!program || place.pc < 0 || place.pc >= program->size)
        return;
    if (place.count == last->count && place.size == last->size && place.pc == last->pc &&
        place.iteration == last->iteration)
        return;
    *last = place;
    cJSON *message = json_message(SUPERVISOR_AT);
    cJSON_AddNumberToObject(message, "count", (double)place.count);
    cJSON_AddNumberToObject(message, "size", place.size);
    cJSON_AddNumberToObject(message, "pc", place.pc);
    cJSON_AddNumberToObject(message, "iteration", (double)place.iteration);
    supervised_say(message);
}

static void *tell_places(void *argument)
{
    struct place last = {.pc = -1};
    pthread_mutex_lock(&teller.lock);
    while (!teller.ends) {
        const struct timespec until = clock_in(CLOCK_MONOTONIC, apart);
        say_where(argument, &last);
        pthread_cond_clockwait(&teller.over, &teller.lock, CLOCK_MONOTONIC, &until);
    }
    pthread_mutex_unlock(&teller.lock);
    return NULL;
}

void supervised_hosts(const char *hosts)
{
    if (!supervisor_is_there())
        return;
    cJSON *message = json_message(SUPERVISOR_WORLD);
    cJSON_AddStringToObject(message, "hosts", strlen(hosts) < SUPERVISOR_HOSTS ? hosts : "");
    supervised_say(message);
}

void supervised_saved(int number, uint64_t count)
{
    cJSON *message = json_message(SUPERVISOR_SAVED);
    cJSON_AddNumberToObject(message, "number", number);
    cJSON_AddNumberToObject(message, "count", (double)count);
    supervised_say(message);
}

void supervised_runs(const char *from, int number, double time)
{
    if (!supervisor_recoveries())
        return;
    cJSON *message = json_message(SUPERVISOR_RUNS);
    cJSON_AddStringToObject(message, "from", from);
    cJSON_AddNumberToObject(message, "number", number);
    cJSON_AddNumberToObject(message, "time", time);
    supervisor_runs(message);
    cJSON_Delete(message);
}

void supervised_fits(int ranks)
{
    supervisor_end(SUPERVISOR_FITS, ranks, NULL);
}

/* Only the launcher knows by now. */
void supervised_starts(void)
{
    const char *rank = getenv("PMI_RANK");
    if (!rank)
        rank = getenv("PMIX_RANK");
    if (supervisor_is_there() && rank && !strcmp(rank, "0"))
        supervisor_starts();
}

int supervised_begin(struct member *member, struct error *error)
{
    if (!supervisor_is_there())
        return 0;
    if (supervisor_begin(error))
        return -1;
    teller.runs = !thread_start(&teller.thread, tell_places, member);
    return teller.runs ? 0 : error_set(error, ERROR_FAILED, "cannot start a thread for epop --recover");
}

/* Before the program is unloaded. */
static void stop_telling(void)
{
    pthread_mutex_lock(&teller.lock);
    teller.ends = true;
    pthread_cond_signal(&teller.over);
    pthread_mutex_unlock(&teller.lock);
    pthread_join(teller.thread, NULL);
    teller.runs = false;
}

void supervised_end(int status)
{
    if (!teller.runs)
        return;
    stop_telling();
    supervisor_end(SUPERVISOR_ENDED, status, NULL);
}

void supervised_fail(int status, const char *text)
{
    if (supervisor_is_there())
        supervisor_end(SUPERVISOR_FAILED, status, text);
}
