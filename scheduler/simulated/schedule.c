/* Schedules: see schedule.h. */
#include "scheduler/simulated/schedule.h"

#include <stdlib.h>

static void free_job(struct job_record *job)
{
    for (int i = 0; i < job->stay_count; i++)
        free(job->stays[i].nodes);
    free(job->stays);
}

void schedule_free(struct schedule *schedule)
{
    for (size_t i = 0; schedule->jobs && i < schedule->job_count; i++)
        free_job(&schedule->jobs[i]);
    for (size_t i = 0; i < schedule->decision_count; i++)
        free((int *)schedule->decisions[i].decision.nodes);
    for (size_t i = 0; i < schedule->event_count; i++)
        free(schedule->events[i].text);
    free(schedule->jobs);
    free(schedule->decisions);
    free(schedule->events);
    free(schedule->policy);
    free(schedule->options);
    *schedule = (struct schedule){0};
}
