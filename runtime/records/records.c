/* The records of this process, and their way to process 0: see records.h. */
#include "runtime/records/records.h"
#include "runtime/base/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/json.h"
#include "runtime/base/say.h"
#include "runtime/base/thread.h"
#include "runtime/control/control.h"
#include "runtime/records/recorder.h"
#include "runtime/records/store.h"
#include "runtime/wire/messages.h"

#define PART_MAX   (48u << 10) /* bytes of a record per message */
#define RECORD_MAX (64u << 20) /* bytes of a record; drivers are to stay far below it */

static struct {
    const struct records_user *user;
    pthread_mutex_t lock; /* between a text's making and its last part: they must arrive in this order */
    _Atomic bool written; /* process 0 has written what this process asked for */
} records = {.lock = PTHREAD_MUTEX_INITIALIZER};

void epop__records_use(const struct records_user *user)
{
    records.user = user->count ? user : NULL;
}

const struct records_user *records_user(void)
{
    return records.user;
}

/* ---- Out ------------------------------------------------------------------------------ */

/* The end of a part: not in the middle of a character. */
static size_t part_length(const char *text, size_t left)
{
    size_t length = left < PART_MAX ? left : PART_MAX;
    while (length < left && length > 1 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}

static void send_part(int which, bool last, int part, int parts, const char *text, size_t length)
{
    char *copy = strndup(text, length);
    cJSON *message = json_message(REPORT(record));
    cJSON_AddNumberToObject(message, "which", which);
    cJSON_AddBoolToObject(message, "last", last);
    cJSON_AddNumberToObject(message, "part", part);
    cJSON_AddNumberToObject(message, "parts", parts);
    cJSON_AddStringToObject(message, "text", copy ? copy : "");
    control_tell(message);
    cJSON_Delete(message);
    free(copy);
}

static void send_text(int which, bool last, const char *text)
{
    size_t length = strlen(text), at = 0;
    int parts = 0, part = 0;
    if (length > RECORD_MAX) {
        say_line("note: a driver's record of %zu bytes is too long and is left out", length);
        return;
    }
    for (size_t i = 0; i < length; i += part_length(text + i, length - i))
        parts++;
    for (; at < length; part++) {
        size_t some = part_length(text + at, length - at);
        send_part(which, last, part, parts, text + at, some);
        at += some;
    }
}

/* With the lock held. */
static void give(int which, bool last)
{
    char *text = records.user->record(which, last);
    if (text && recorder_runs()) {
        store_put(which, 0, last, text);
    } else if (text) {
        send_text(which, last, text);
        free(text);
    }
}

void epop__records_hand_over(void)
{
    if (!records.user)
        return;
    pthread_mutex_lock(&records.lock);
    for (int which = 0; which < records.user->count; which++)
        give(which, true);
    pthread_mutex_unlock(&records.lock);
}

bool records_give_present(int which)
{
    if (thread_lock_within(&records.lock, 1))
        return false; /* whoever holds it hands over the last records, which are better, or is dead */
    give(which, false);
    pthread_mutex_unlock(&records.lock);
    return true;
}

/* ---- Messages --------------------------------------------------------------------------- */

void records_take_part(int process, const struct report_record *report)
{
    if (recorder_runs())
        store_part(report->which, process, report->last, report->part, report->parts, report->text);
}

void records_take_answer(int process, const struct report_recorded *report)
{
    (void)process;
    if (recorder_runs())
        recorder_answered(report->round);
}

void records_take_failure(int process, const struct report_write *report)
{
    (void)process;
    if (recorder_runs())
        recorder_fail(report->text);
}

void records_give(const struct order_record *order)
{
    if (!records.user)
        return;
    for (int i = 0; i < order->which.count; i++)
        if (order->which.items[i] < records.user->count)
            records_give_present(order->which.items[i]);
    cJSON *answer = json_message(REPORT(recorded));
    cJSON_AddNumberToObject(answer, "round", order->round);
    control_tell(answer);
    cJSON_Delete(answer);
}

void records_are_written(void)
{
    atomic_store(&records.written, true);
}

void records_note(const epop_adaptation_t *adaptation, const char *reason)
{
    if (recorder_runs())
        store_note(adaptation, reason);
}

void records_note_checkpoint(const epop_checkpoint_t *checkpoint)
{
    if (recorder_runs())
        store_note_checkpoint(checkpoint);
}

/* ---- Failures ----------------------------------------------------------------------------- */

/* Has process 0 write. -1: it cannot be reached. */
static int ask_to_write(const char *reason)
{
    cJSON *message = json_message(REPORT(write));
    cJSON_AddStringToObject(message, "text", reason);
    int result = control_tell(message);
    cJSON_Delete(message);
    return result;
}

void epop__records_fail(const char *reason)
{
    if (!records.user)
        return;
    if (recorder_runs()) {
        recorder_fail(reason);
        recorder_wait();
    } else if (ask_to_write(reason) == 0) {
        const struct timespec pause = {.tv_nsec = 2000000};
        for (int waits = 0; waits < 1000 && !atomic_load(&records.written); waits++)
            nanosleep(&pause, NULL);
    }
}
