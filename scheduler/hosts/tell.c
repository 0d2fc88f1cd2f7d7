/* Events: see hosts_tell.h. */
#include "scheduler/hosts/tell.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT_MAX = 1024 };

const char *hosts_state_text(enum hosts_state state)
{
    static const char *const texts[] = {[JOB_WAITING] = "waiting",
                                        [JOB_STARTING] = "starting",
                                        [JOB_RUNNING] = "running",
                                        [JOB_ADAPTING] = "adapting",
                                        [JOB_ENDING] = "ending"};
    return texts[state];
}

void hosts_tell_event(struct hosts *hosts, struct journal_event event)
{
    struct error error = {0};
    event.time = hosts_now(hosts);
    hosts_must(hosts, journal_event_add(hosts->journal, &event, &error), &error);
    if (hosts->listener.tell)
        hosts->listener.tell(hosts->listener.context, &event);
}

void hosts_tell(struct hosts *hosts, int64_t job, const char *kind, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    hosts_tell_event(hosts, (struct journal_event){.job = job, .kind = kind, .text = text, .at = -1});
}

void hosts_tell_state(struct hosts_job *job, enum hosts_state state, const char *kind, const char *format, ...)
{
    struct error error = {0};
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    job->state = state;
    hosts_must(job->hosts, journal_job_state(job->hosts->journal, job->number, hosts_state_text(state), text, &error),
               &error);
    hosts_tell_event(job->hosts,
                     (struct journal_event){
                         .job = job->number, .kind = kind, .text = text, .state = hosts_state_text(state), .at = -1});
}
