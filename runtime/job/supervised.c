/* What the job tells its supervisor: see supervised.h. */
#include "runtime/job/supervised.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/thread.h"
#include "runtime/control/supervisor.h"
#include "runtime/job/state.h"

static const double apart = 0.2; /* seconds */

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool runs, ends;
} teller = {.lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};

/* How many iterations were lost is known from the last of these. */
static void say_where(struct member *member, char last[256])
{
    char line[256];
    const struct live_position *live = &member->live;
    const epop_program_t *program = atomic_load(&live->program);
    int pc = atomic_load(&live->pc);
    if (!program || pc < 0 || pc >= program->size)
        return;
    const char *name = program->elements[pc].name;
    snprintf(line, sizeof line, SUPERVISOR_AT " %llu %d %d %lld %.100s",
             (unsigned long long)ceiling_count(&member->ceiling), atomic_load(&live->size), pc,
             (long long)atomic_load(&live->iteration), name ? name : "-");
    if (!strcmp(line, last))
        return;
    strcpy(last, line);
    supervisor_say(line);
}

static void *tell(void *argument)
{
    char last[256] = "";
    pthread_mutex_lock(&teller.lock);
    while (!teller.ends) {
        const struct timespec until = clock_in(CLOCK_REALTIME, apart);
        say_where(argument, last);
        pthread_cond_timedwait(&teller.over, &teller.lock, &until);
    }
    pthread_mutex_unlock(&teller.lock);
    return NULL;
}

void supervised_saved(int number, uint64_t count)
{
    char line[64];
    snprintf(line, sizeof line, SUPERVISOR_SAVED " %d %llu", number, (unsigned long long)count);
    supervisor_say(line);
}

void supervised_runs(const char *from, int number, double time)
{
    char line[128];
    snprintf(line, sizeof line, SUPERVISOR_RUNS " %.20s %d %.6f", from, number, time);
    if (supervisor_recoveries())
        supervisor_runs(line);
}

void supervised_fits(int ranks)
{
    supervisor_end(SUPERVISOR_FITS, ranks, NULL);
}

int supervised_begin(struct member *member, struct error *error)
{
    if (!supervisor_is_there())
        return 0;
    if (supervisor_begin(error))
        return -1;
    teller.runs = !thread_start(&teller.thread, tell, member);
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
