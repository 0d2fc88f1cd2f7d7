/*
 * The coordinator's side of checkpoints, without ranks: the test says what each of two ranks says, and looks at what
 * the coordinator sends them, and in which order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/json.h"
#include "runtime/coordinator/checkpoint.h"
#include "runtime/coordinator/coordinator.h"
#include "runtime/wire/messages.h"
#include "runtime/world/backend.h"

#define RANKS   2
#define WAIT    10 /* seconds */
#define LETTERS 400

/* What has come for one receiver, in order. */
struct box {
    cJSON *letters[LETTERS];
    int come, seen;
};

struct job {
    struct coordinator *coordinator;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct box ranks[RANKS], events, answers;
    char said[400], forgotten[400];
    bool linked; /* what is saved is, to an earlier one */
    const char *refusal;
    enum save_level level; /* of all that are asked for */
};

static void put(struct job *j, struct box *box, const cJSON *letter)
{
    pthread_mutex_lock(&j->lock);
    assert_true(box->come < LETTERS);
    box->letters[box->come++] = cJSON_Duplicate(letter, 1);
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->lock);
}

static const cJSON *next(struct job *j, struct box *box)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT;
    pthread_mutex_lock(&j->lock);
    while (box->seen == box->come)
        assert_int_equal(pthread_cond_timedwait(&j->changed, &j->lock, &until), 0);
    const cJSON *letter = box->letters[box->seen++];
    pthread_mutex_unlock(&j->lock);
    return letter;
}

static void on_send(void *context, int process, const cJSON *message)
{
    struct job *j = context;
    put(j, &j->ranks[process], message);
}

/* As its row says. */
static void assert_fits(const cJSON *event)
{
    struct message message;
    struct error why;
    if (!message_decode(&message, KIND_EVENT, event, &why))
        fail_msg("%s", why.text);
    message_free(&message);
}

static void on_publish(void *context, const cJSON *event)
{
    assert_fits(event);
    struct job *j = context;
    put(j, &j->events, event);
}

static void on_answer(void *context, void *handle, const cJSON *answer)
{
    struct job *j = context;
    assert_non_null(handle);
    put(j, &j->answers, answer);
}

static void on_fatal(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "%s\n", text);
    abort();
}

static void on_say(void *context, const char *text, bool failing)
{
    struct job *j = context;
    assert_false(failing);
    pthread_mutex_lock(&j->lock);
    snprintf(j->said, sizeof j->said, "%s", text);
    pthread_mutex_unlock(&j->lock);
}

static bool on_saves(void *context, enum save_level level, struct error *why)
{
    struct job *j = context;
    assert_int_equal(level, j->level);
    return !j->refusal || error_set(why, ERROR_FAILED, "%s", j->refusal) == 0;
}

static void on_forget(void *context, const char *path)
{
    struct job *j = context;
    pthread_mutex_lock(&j->lock);
    snprintf(j->forgotten + strlen(j->forgotten), sizeof j->forgotten - strlen(j->forgotten), "%s ",
             strrchr(path, '/') + 1);
    pthread_mutex_unlock(&j->lock);
}

static const struct coordinator_ops ops = {.send = on_send,
                                           .publish = on_publish,
                                           .answer = on_answer,
                                           .fatal = on_fatal,
                                           .say = on_say,
                                           .saves = on_saves,
                                           .forget = on_forget};

/* ---- The script ------------------------------------------------------------------------- */

static epop_program_t *program;

static void say(struct job *j, int process, const char *text)
{
    cJSON *message = cJSON_Parse(text);
    assert_non_null(message);
    coordinator_message(j->coordinator, process, message);
    cJSON_Delete(message);
}

static void ask(struct job *j, const char *text)
{
    cJSON *request = cJSON_Parse(text);
    assert_non_null(request);
    coordinator_request(j->coordinator, j, request);
    cJSON_Delete(request);
}

static void start(struct job *j, const struct checkpoint_config *checkpoint)
{
    struct coordinator_config config = {.job = "test",
                                        .path = "test",
                                        .program = program,
                                        .backend = &backend_pool,
                                        .size = RANKS,
                                        .processes = RANKS,
                                        .maximum = RANKS,
                                        .prepare_timeout = 10,
                                        .freeze_timeout = 10,
                                        .finish_timeout = 5,
                                        .checkpoint = *checkpoint,
                                        .ops = &ops,
                                        .context = j};
    config.checkpoint.directory = "/nowhere";
    config.checkpoint.name = "test";
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->changed, NULL);
    j->coordinator = coordinator_start(&config);
    assert_non_null(j->coordinator);
    for (int r = 0; r < RANKS; r++)
        say(j, r, "{\"op\":\"hello\",\"host\":\"here\",\"pid\":1}");
}

static void clear(struct box *box)
{
    while (box->come > 0)
        cJSON_Delete(box->letters[--box->come]);
}

static void expect_event(struct job *j, const char *name)
{
    assert_string_equal(json_text(next(j, &j->events), "event"), name);
}

/* The program ends on all ranks; nothing else has happened. */
static void finish(struct job *j)
{
    char stuck[200];
    for (int r = 0; r < RANKS; r++)
        say(j, r, "{\"op\":\"ended\"}");
    for (int r = 0; r < RANKS; r++)
        coordinator_closed(j->coordinator, r);
    coordinator_wait(j->coordinator, stuck, sizeof stuck);
    expect_event(j, "finished");
    coordinator_destroy(j->coordinator);
    for (int r = 0; r < RANKS; r++)
        clear(&j->ranks[r]);
    clear(&j->events);
    clear(&j->answers);
}

/* The next letter to each rank is this one; that to rank 0. */
static const cJSON *expect(struct job *j, const char *op)
{
    const cJSON *first = NULL;
    for (int r = 0; r < RANKS; r++) {
        const cJSON *letter = next(j, &j->ranks[r]);
        assert_string_equal(json_text(letter, "op"), op);
        first = first ? first : letter;
    }
    return first;
}

/* All ranks come to the probe of that iteration. */
static void come_together(struct job *j, int iteration, int visit)
{
    char text[200];
    int round = json_int(expect(j, "freeze"), "round", 0);
    snprintf(text, sizeof text, "{\"op\":\"count\",\"round\":%d,\"count\":%d}", round, iteration);
    for (int r = 0; r < RANKS; r++)
        say(j, r, text);
    int target = json_int(expect(j, "target"), "count", 0);
    snprintf(text, sizeof text,
             "{\"op\":\"arrived\",\"count\":%d,\"pc\":1,\"visit\":%d,\"iteration\":%d,\"needs\":0,\"held\":0.5}",
             target, visit, target);
    for (int r = 0; r < RANKS; r++)
        say(j, r, text);
}

static void save(struct job *j, int number, int bytes, const char *failure)
{
    char text[200];
    snprintf(text, sizeof text, "{\"op\":\"saved\",\"number\":%d,\"bytes\":%d%s%s%s%s}", number, bytes,
             j->linked ? ",\"linked\":true" : "", failure ? ",\"failure\":\"" : "", failure ? failure : "",
             failure ? "\"" : "");
    for (int r = 0; r < RANKS; r++)
        say(j, r, text);
}

static void expect_decision(struct job *j, const char *action)
{
    assert_string_equal(json_text(expect(j, "decide"), "action"), action);
}

/* ---- Tests ---------------------------------------------------------------------------------- */

static void one_is_made_where_all_hold_and_then_they_go_on(void **state)
{
    (void)state;
    struct job j = {0};
    start(&j, &(struct checkpoint_config){0});
    ask(&j, "{\"op\":\"checkpoint\",\"wait\":true}");
    come_together(&j, 7, 1);
    const cJSON *order = expect(&j, "save");
    assert_int_equal(json_int(order, "number", 0), 1);
    assert_string_equal(json_text(order, "path"), "/nowhere/test-0001.h5");
    assert_string_equal(json_text(order, "base"), "");
    save(&j, 1, 1000, NULL);
    expect_decision(&j, "continue");
    const cJSON *answer = next(&j, &j.answers), *made = cJSON_GetObjectItem(answer, "checkpoint");
    assert_string_equal(json_text(answer, "code"), "done");
    assert_int_equal(json_int(made, "bytes", 0), 2000);
    assert_int_equal(json_int(made, "iteration", 0), 8);
    assert_true(json_number(made, "stall", 0) >= 0.5 + json_number(made, "seconds", 0));
    expect_event(&j, "checkpointed");
    finish(&j);
}

static void what_was_asked_for_first_is_in_a_pause_too(void **state)
{
    (void)state;
    struct job j = {0};
    start(&j, &(struct checkpoint_config){0});
    ask(&j, "{\"op\":\"pause\"}");
    come_together(&j, 3, 1);
    assert_string_equal(json_text(next(&j, &j.answers), "code"), "done");
    ask(&j, "{\"op\":\"checkpoint\"}");
    assert_string_equal(json_text(next(&j, &j.answers), "code"), "accepted");
    expect(&j, "save");
    save(&j, 1, 1, NULL);
    expect_event(&j, "paused");
    expect_event(&j, "checkpointed");
    ask(&j, "{\"op\":\"resume\"}"); /* only now they go on */
    next(&j, &j.answers);
    expect_event(&j, "resumed");
    expect_decision(&j, "continue");
    finish(&j);
}

static void one_that_was_asked_for_before_a_stop_is_made(void **state)
{
    (void)state;
    struct job j = {0};
    start(&j, &(struct checkpoint_config){0});
    ask(&j, "{\"op\":\"checkpoint\"}");
    next(&j, &j.answers);
    ask(&j, "{\"op\":\"stop\"}");
    come_together(&j, 3, 1);
    ask(&j, "{\"op\":\"checkpoint\"}"); /* this one is not */
    expect(&j, "save");
    const cJSON *answer = next(&j, &j.answers);
    assert_string_equal(json_text(answer, "code"), "refused");
    assert_string_equal(json_text(answer, "reason"), "the job is ending");
    save(&j, 1, 1, NULL);
    expect_decision(&j, "stop");
    expect_event(&j, "stopping");
    expect_event(&j, "checkpointed");
    finish(&j);
}

static void a_failure_is_told_and_its_number_used_again(void **state)
{
    (void)state;
    struct job j = {0};
    start(&j, &(struct checkpoint_config){.number = 4});
    ask(&j, "{\"op\":\"checkpoint\",\"wait\":true}");
    come_together(&j, 3, 1);
    assert_int_equal(json_int(expect(&j, "save"), "number", 0), 5);
    save(&j, 5, 0, "the disk is full");
    expect_decision(&j, "continue");
    const cJSON *answer = next(&j, &j.answers);
    assert_string_equal(json_text(answer, "code"), "failed");
    assert_string_equal(json_text(answer, "reason"), "the disk is full");
    expect_event(&j, "unsaved");
    assert_string_equal(j.said, "there is no checkpoint: the disk is full");
    ask(&j, "{\"op\":\"checkpoint\"}");
    next(&j, &j.answers);
    come_together(&j, 9, 1);
    assert_int_equal(json_int(expect(&j, "save"), "number", 0), 5);
    save(&j, 5, 1, NULL);
    expect_decision(&j, "continue");
    expect_event(&j, "checkpointed");
    finish(&j);
}

static void all_ranks_that_ask_mean_the_same_one(void **state)
{
    (void)state;
    struct job j = {0};
    start(&j, &(struct checkpoint_config){0});
    for (int r = 0; r < RANKS; r++)
        say(&j, r, "{\"op\":\"request\",\"checkpoint\":true}");
    for (int r = 0; r < RANKS; r++)
        if (!r)
            assert_string_equal(json_text(next(&j, &j.ranks[0]), "op"), "position");
    say(&j, 0, "{\"op\":\"position\",\"pc\":1,\"visit\":1,\"iteration\":3}");
    expect(&j, "heard");
    come_together(&j, 3, 1);
    expect(&j, "save");
    save(&j, 1, 1, NULL);
    expect_decision(&j, "continue");
    expect_event(&j, "checkpointed");
    finish(&j);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    struct job j = {.refusal = "the program has no describe block"};
    start(&j, &(struct checkpoint_config){0});
    ask(&j, "{\"op\":\"checkpoint\"}");
    const cJSON *answer = next(&j, &j.answers);
    assert_string_equal(json_text(answer, "code"), "refused");
    assert_string_equal(json_text(answer, "reason"), j.refusal);
    finish(&j);
}

static void a_program_that_ends_meanwhile_is_a_failure(void **state)
{
    (void)state;
    struct job j = {0};
    start(&j, &(struct checkpoint_config){0});
    ask(&j, "{\"op\":\"checkpoint\",\"wait\":true}");
    expect(&j, "freeze");
    for (int r = 0; r < RANKS; r++)
        say(&j, r, "{\"op\":\"ended\"}");
    const cJSON *answer = next(&j, &j.answers);
    assert_string_equal(json_text(answer, "code"), "failed");
    assert_string_equal(json_text(answer, "reason"), "the program has ended");
    expect_event(&j, "unsaved");
    finish(&j);
}

/* One in each iteration: what was constant stays so in a visit, and files that others link to stay. */
static void files_link_to_what_is_constant(void **state)
{
    (void)state;
    struct job j = {0};
    static const char *const bases[] = {"", "test-0001.h5", "test-0001.h5", "", "test-0004.h5"};
    start(&j, &(struct checkpoint_config){.keep = 2});
    for (int i = 0; i < 5; i++) {
        ask(&j, "{\"op\":\"checkpoint\",\"wait\":true}");
        come_together(&j, 3 + 10 * i, i < 3 ? 1 : 2);
        assert_string_equal(json_text(expect(&j, "save"), "base"), bases[i]);
        j.linked = bases[i][0];
        save(&j, i + 1, 1, NULL);
        expect_decision(&j, "continue");
        next(&j, &j.answers);
        expect_event(&j, "checkpointed");
    }
    finish(&j);
    assert_string_equal(j.forgotten, "test-0002.h5 test-0001.h5 test-0003.h5 ");
}

/* In memory each has all of it, by links to the one before. */
static void in_memory_the_last_one_has_what_is_constant(void **state)
{
    (void)state;
    struct job j = {.level = SAVE_MEMORY};
    static const char *const bases[] = {"", "1", ""};
    start(&j, &(struct checkpoint_config){.every = {[SAVE_MEMORY] = 0.02}});
    for (int i = 0; i < 3; i++) {
        come_together(&j, 3 + 10 * i, i < 2 ? 1 : 2);
        const cJSON *order = expect(&j, "save");
        assert_string_equal(json_text(order, "level"), "memory");
        assert_string_equal(json_text(order, "base"), bases[i]);
        j.linked = bases[i][0];
        save(&j, i + 1, 1, NULL);
        expect_decision(&j, "continue");
        expect_event(&j, "checkpointed");
    }
    come_together(&j, 33, 2);
    assert_string_equal(json_text(expect(&j, "save"), "base"), "3");
    save(&j, 4, 1, "no room");
    expect_decision(&j, "continue");
    expect_event(&j, "unsaved");
    come_together(&j, 43, 2);
    assert_string_equal(json_text(expect(&j, "save"), "base"), ""); /* none that may have been left half */
    save(&j, 4, 1, NULL);
    expect_decision(&j, "continue");
    expect_event(&j, "checkpointed");
    expect(&j, "freeze"); /* the next one */
    for (int r = 0; r < RANKS; r++)
        say(&j, r, "{\"op\":\"ended\"}");
    expect_event(&j, "unsaved");
    finish(&j);
}

/* Nothing is constant: no file links to another, and as many stay as are wanted. */
static void files_that_link_to_none_all_count(void **state)
{
    (void)state;
    struct job j = {0};
    static const char *const bases[] = {"", "test-0001.h5", "test-0002.h5", "test-0003.h5"};
    start(&j, &(struct checkpoint_config){.keep = 1});
    for (int i = 0; i < 4; i++) {
        ask(&j, "{\"op\":\"checkpoint\",\"wait\":true}");
        come_together(&j, 3 + 10 * i, 1);
        assert_string_equal(json_text(expect(&j, "save"), "base"), bases[i]);
        save(&j, i + 1, 1, NULL);
        expect_decision(&j, "continue");
        next(&j, &j.answers);
        expect_event(&j, "checkpointed");
    }
    finish(&j);
    assert_string_equal(j.forgotten, "test-0001.h5 test-0002.h5 test-0003.h5 ");
}

static void they_come_again_and_again(void **state)
{
    (void)state;
    struct job j = {0};
    start(&j, &(struct checkpoint_config){.every = {[SAVE_FILE] = 0.05}});
    for (int i = 1; i <= 3; i++) {
        come_together(&j, 5 * i, 1);
        assert_int_equal(json_int(expect(&j, "save"), "number", 0), i);
        save(&j, i, 1, NULL);
        expect_decision(&j, "continue");
        expect_event(&j, "checkpointed");
    }
    expect(&j, "freeze"); /* the next one, which the end of the program overtakes */
    for (int r = 0; r < RANKS; r++)
        say(&j, r, "{\"op\":\"ended\"}");
    expect_event(&j, "unsaved");
    finish(&j);
}

/* ---- Written while the ranks go on ------------------------------------------------------------ */

static void store(struct job *j, const char *op, int process, int number, const char *failure)
{
    char text[200];
    snprintf(text, sizeof text, "{\"op\":\"%s\",\"number\":%d%s%s%s}", op, number, failure ? ",\"failure\":\"" : "",
             failure ? failure : "", failure ? "\"" : "");
    say(j, process, text);
}

static void store_all(struct job *j, const char *op, int number)
{
    for (int r = 0; r < RANKS; r++)
        store(j, op, r, number, NULL);
}

static void expect_keep(struct job *j, bool complete)
{
    assert_int_equal(json_true(expect(j, "keep"), "complete"), complete);
}

/* All ranks have copied, and go on. */
static void copy(struct job *j, int number, int iteration)
{
    come_together(j, iteration, 1);
    assert_true(json_true(expect(j, "save"), "behind"));
    save(j, number, 1000, NULL);
    expect_decision(j, "continue");
}

static void the_ranks_go_on_before_it_is_on_disk(void **state)
{
    (void)state;
    struct job j = {0};
    start(&j, &(struct checkpoint_config){.behind = true, .end_timeout = 10, .keep = 1});
    ask(&j, "{\"op\":\"checkpoint\",\"wait\":true}");
    copy(&j, 1, 7);
    store(&j, "stored", 0, 1, NULL);
    ask(&j, "{\"op\":\"status\"}");
    say(&j, 0, "{\"op\":\"position\",\"pc\":1,\"visit\":1,\"iteration\":9}");
    const cJSON *job = cJSON_GetObjectItem(next(&j, &j.answers), "job"), *writing = cJSON_GetObjectItem(job, "writing");
    assert_int_equal(json_int(writing, "number", 0), 1);
    assert_true(json_number(writing, "stall", 0) >= 0.5 && !cJSON_HasObjectItem(job, "checkpoint"));
    while (strcmp(json_text(next(&j, &j.ranks[0]), "op"), "progress"))
        continue;
    store(&j, "stored", 1, 1, NULL);
    expect_keep(&j, true);
    store_all(&j, "kept", 1);
    const cJSON *made = cJSON_GetObjectItem(next(&j, &j.answers), "checkpoint");
    assert_int_equal(json_int(made, "bytes", 0), 2000);
    assert_true(json_true(made, "behind"));
    expect_event(&j, "checkpointed");
    finish(&j);
}

/* One rank's part is on disk before another has copied its own. */
static void a_disk_may_be_faster_than_a_copy(void **state)
{
    (void)state;
    struct job j = {0};
    start(&j, &(struct checkpoint_config){.behind = true, .end_timeout = 10});
    ask(&j, "{\"op\":\"checkpoint\"}");
    next(&j, &j.answers);
    come_together(&j, 7, 1);
    expect(&j, "save");
    store_all(&j, "stored", 1);
    save(&j, 1, 1, NULL);
    expect_keep(&j, true);
    expect_decision(&j, "continue");
    store_all(&j, "kept", 1);
    expect_event(&j, "checkpointed");
    finish(&j);
}

/* The other part is waited for, the file before stays, and its number is used again. */
static void a_full_disk_ends_one_and_not_the_job(void **state)
{
    (void)state;
    struct job j = {0};
    start(&j, &(struct checkpoint_config){.behind = true, .end_timeout = 10, .keep = 1});
    ask(&j, "{\"op\":\"checkpoint\",\"wait\":true}");
    copy(&j, 1, 7);
    store(&j, "stored", 1, 1, "the disk is full");
    store(&j, "stored", 0, 1, NULL);
    expect_keep(&j, false);
    store_all(&j, "kept", 1);
    assert_string_equal(json_text(next(&j, &j.answers), "reason"), "the disk is full");
    expect_event(&j, "unsaved");
    assert_string_equal(j.said, "there is no checkpoint: the disk is full");
    assert_string_equal(j.forgotten, "");
    ask(&j, "{\"op\":\"checkpoint\"}");
    next(&j, &j.answers);
    come_together(&j, 9, 1);
    assert_int_equal(json_int(expect(&j, "save"), "number", 0), 1);
    save(&j, 1, 0, "no memory for a copy");
    expect_decision(&j, "continue");
    expect_event(&j, "unsaved");
    store(&j, "stored", 0, 1, NULL); /* means nothing any more */
    finish(&j);
}

/* One that is asked for meanwhile comes next; before a stop, too, and the end of the program waits for it. */
static void the_next_one_waits_for_the_disk(void **state)
{
    (void)state;
    struct job j = {0};
    start(&j, &(struct checkpoint_config){.behind = true, .end_timeout = 10});
    ask(&j, "{\"op\":\"checkpoint\"}");
    next(&j, &j.answers);
    copy(&j, 1, 7);
    ask(&j, "{\"op\":\"checkpoint\"}");
    next(&j, &j.answers);
    ask(&j, "{\"op\":\"stop\"}");
    come_together(&j, 9, 1);
    store_all(&j, "stored", 1);
    expect_keep(&j, true);
    store_all(&j, "kept", 1);
    assert_int_equal(json_int(expect(&j, "save"), "number", 0), 2);
    save(&j, 2, 1, NULL);
    expect_decision(&j, "stop");
    for (int r = 0; r < RANKS; r++)
        say(&j, r, "{\"op\":\"ended\"}");
    store_all(&j, "stored", 2);
    expect_keep(&j, true);
    store_all(&j, "kept", 2);
    expect_event(&j, "stopping");
    expect_event(&j, "checkpointed");
    expect_event(&j, "checkpointed");
    finish(&j);
}

static void the_end_does_not_wait_for_ever(void **state)
{
    (void)state;
    struct job j = {0};
    start(&j, &(struct checkpoint_config){.behind = true, .end_timeout = 0.05});
    ask(&j, "{\"op\":\"checkpoint\"}");
    next(&j, &j.answers);
    copy(&j, 1, 7);
    for (int r = 0; r < RANKS; r++)
        say(&j, r, "{\"op\":\"ended\"}");
    expect_keep(&j, false);
    expect_event(&j, "unsaved");
    finish(&j);
    assert_string_equal(j.said, "there is no checkpoint: it was not on disk 0.05 s after the end of the program");
}

static void rotation_keeps_what_is_linked_to(void **state)
{
    (void)state;
    struct rotation r = {0};
    for (int number = 1; number <= 6; number++)
        assert_int_equal(rotation_add(&r, number, number < 4 ? 1 : 4), 0);
    assert_int_equal(rotation_next(&r, 0), 0);
    assert_int_equal(rotation_next(&r, 4), 2); /* 3 links to 1 */
    assert_int_equal(rotation_next(&r, 4), 0);
    assert_int_equal(rotation_next(&r, 1), 1);
    assert_int_equal(rotation_next(&r, 1), 3);
    assert_int_equal(rotation_next(&r, 1), 5); /* 6 links to 4 */
    assert_int_equal(rotation_next(&r, 1), 0);
    rotation_destroy(&r);
}

static int set_up(void **state)
{
    (void)state;
    program = epop_program_create("test");
    epop_add_init(program, "init", (int (*)(int *, char ***, void **))(void (*)(void))abort);
    epop_add_elastic(program, "loop", NULL, NULL, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    epop_program_free(program);
    return 0;
}

int main(void)
{
    alarm(240);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_made_where_all_hold_and_then_they_go_on),
        cmocka_unit_test(what_was_asked_for_first_is_in_a_pause_too),
        cmocka_unit_test(one_that_was_asked_for_before_a_stop_is_made),
        cmocka_unit_test(a_failure_is_told_and_its_number_used_again),
        cmocka_unit_test(all_ranks_that_ask_mean_the_same_one),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_program_that_ends_meanwhile_is_a_failure),
        cmocka_unit_test(files_link_to_what_is_constant),
        cmocka_unit_test(in_memory_the_last_one_has_what_is_constant),
        cmocka_unit_test(files_that_link_to_none_all_count),
        cmocka_unit_test(they_come_again_and_again),
        cmocka_unit_test(the_ranks_go_on_before_it_is_on_disk),
        cmocka_unit_test(a_disk_may_be_faster_than_a_copy),
        cmocka_unit_test(a_full_disk_ends_one_and_not_the_job),
        cmocka_unit_test(the_next_one_waits_for_the_disk),
        cmocka_unit_test(the_end_does_not_wait_for_ever),
        cmocka_unit_test(rotation_keeps_what_is_linked_to),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
