/*
 * How soon a job answers: one connection, so many requests `measure`, each after the answer to the last.
 *
 *     build/bench/ask COUNT [JOB]
 *
 * Prints the milliseconds that each took, as a JSON array.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "epopctl/client.h"
#include "epopctl/jobs.h"
#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

enum { TIMEOUT_MS = 10000 };

static double ask(const cJSON *request)
{
    int code;
    double begin = monotonic_seconds();
    cJSON *answer = ctl_ask(request, TIMEOUT_MS, &code);
    double took = monotonic_seconds() - begin;
    bool whole = json_true(answer, "ok") &&
                 !cJSON_GetArraySize(cJSON_GetObjectItem(cJSON_GetObjectItem(answer, "measure"), "missing"));
    cJSON_Delete(answer);
    if (!whole)
        exit(EXIT_FAILURE);
    return took;
}

int main(int argc, char **argv)
{
    struct control_job job;
    int count = argc > 1 ? atoi(argv[1]) : 1;
    if (ctl_job_select(argc > 2 ? argv[2] : NULL, &job) || ctl_connect(&job, NULL, NULL, TIMEOUT_MS))
        return EXIT_FAILURE;
    cJSON *request = json_message(REQUEST(measure));
    cJSON_AddStringToObject(request, "asker", "bench");
    for (int i = 0; i < count; i++) {
        printf("%s%.3f", i ? ", " : "[", 1e3 * ask(request));
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    puts("]");
    ctl_disconnect();
    cJSON_Delete(request);
    return EXIT_SUCCESS;
}
