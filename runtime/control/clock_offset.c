/* Reading another process's clock: the quickest of several answers counts. */
#include "runtime/control/clock_offset.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/host.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

enum { ROUNDS = 12, SECOND = 1000000000 };

#define PATIENCE 0.2 /* seconds, for one answer */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int question;  /* the one that is open; 0: none */
    int64_t came;  /* when its answer came; 0: not yet */
    int64_t there; /* the answer */
    char clock[128], host[128];
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Which clock this is: that of one start of one kernel, in one time namespace. */
static void describe_clock(char *text, size_t size)
{
    char boot[64] = "", space[40] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file && !fgets(boot, sizeof boot, file))
        boot[0] = 0;
    if (file)
        fclose(file);
    boot[strcspn(boot, "\n")] = 0;
    if (readlink("/proc/self/ns/time", space, sizeof space - 1) < 0)
        space[0] = 0;
    snprintf(text, size, "%s %s", boot, space);
}

/* ---- Process 0 ----------------------------------------------------------------------------- */

/* Seconds and the rest apart: a JSON number does not hold all digits of both. */
cJSON *clock_answer(const cJSON *message)
{
    char text[128];
    int64_t time = monotonic_ns();
    cJSON *answer = json_message(ORDER(clock));
    cJSON_AddNumberToObject(answer, "question", json_int(message, "question", 0));
    cJSON_AddNumberToObject(answer, "seconds", (double)(time / SECOND));
    cJSON_AddNumberToObject(answer, "nanoseconds", (double)(time % SECOND));
    describe_clock(text, sizeof text);
    cJSON_AddStringToObject(answer, "clock", text);
    cJSON_AddStringToObject(answer, "host", host_own());
    return answer;
}

/* ---- Every other process -------------------------------------------------------------------- */

void clock_answered(const cJSON *message)
{
    const char *clock = json_text(message, "clock"), *host = json_text(message, "host");
    int64_t time = monotonic_ns();
    pthread_mutex_lock(&state.lock);
    if (state.question && json_int(message, "question", 0) == state.question) {
        state.came = time;
        state.there = json_int64(message, "seconds", 0) * SECOND + json_int64(message, "nanoseconds", 0);
        snprintf(state.clock, sizeof state.clock, "%s", clock ? clock : "");
        snprintf(state.host, sizeof state.host, "%s", host ? host : "");
        pthread_cond_signal(&state.changed);
    }
    pthread_mutex_unlock(&state.lock);
}

/* Until the answer is there or too late; with the lock held. */
static void await_answer(void)
{
    struct timespec until = clock_in(CLOCK_MONOTONIC, PATIENCE);
    while (!state.came && !pthread_cond_clockwait(&state.changed, &state.lock, CLOCK_MONOTONIC, &until))
        ;
}

static bool ask_once(int (*tell)(void *context, const cJSON *message), void *context, int question,
                     struct clock_reading *reading)
{
    cJSON *message = json_message(REPORT(clock));
    cJSON_AddNumberToObject(message, "question", question);
    pthread_mutex_lock(&state.lock);
    state.question = question;
    state.came = 0;
    pthread_mutex_unlock(&state.lock);
    int64_t asked = monotonic_ns();
    bool sent = message && !tell(context, message);
    cJSON_Delete(message);
    pthread_mutex_lock(&state.lock);
    if (sent)
        await_answer();
    int64_t came = state.came;
    reading->at = asked + (came - asked) / 2;
    reading->offset = state.there - reading->at;
    reading->uncertainty = (came - asked + 1) / 2;
    state.question = 0;
    pthread_mutex_unlock(&state.lock);
    return came != 0;
}

/* The same clock may be read a little late, but not differ by more than that. */
static void compare(struct clock_reading *reading)
{
    char clock[128];
    describe_clock(clock, sizeof clock);
    reading->same_host = !strcmp(host_own(), state.host);
    int64_t apart = reading->offset < 0 ? -reading->offset : reading->offset;
    reading->same_clock = !strcmp(clock, state.clock) && apart <= reading->uncertainty;
    if (reading->same_clock)
        reading->offset = reading->uncertainty = 0;
}

int clock_ask(int (*tell)(void *context, const cJSON *message), void *context, struct clock_reading *reading)
{
    static int question;
    int64_t end = monotonic_ns() + SECOND;
    int answers = 0;
    for (int round = 0; round < ROUNDS && monotonic_ns() < end; round++) {
        struct clock_reading this;
        if (!ask_once(tell, context, ++question, &this))
            continue;
        if (!answers++ || this.uncertainty < reading->uncertainty)
            *reading = this;
    }
    if (!answers)
        return -1;
    compare(reading);
    return 0;
}
