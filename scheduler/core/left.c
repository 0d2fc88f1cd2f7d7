/* What jobs have left: see left.h. */
#include "scheduler/core/left.h"

/* Known times of phases come nearer, unknown ones stay so. */
static double nearer(double begins, double seconds)
{
    return begins < 0 ? begins : begins > seconds ? begins - seconds : 0;
}

/* What is known at as_of becomes what is known `now`; the job got on for `seconds` meanwhile. */
static void move_on(struct job *job, double now, double seconds)
{
    job->left -= seconds;
    for (int i = job->view.phase; i < job->phase_count; i++)
        job->begins[i] = nearer(job->begins[i], seconds);
    job->as_of = now;
}

void left_starts(struct job *job, double now)
{
    job->left = job->view.limit * job->view.wanted / job->view.nodes;
    job->as_of = now;
    left_show(job, now);
}

void left_told(struct job *job, double now, double left)
{
    move_on(job, now, now - job->as_of);
    job->left = left;
    left_show(job, now);
}

void left_phase(struct job *job, double now, int phase, const double *begins)
{
    move_on(job, now, now - job->as_of);
    job_enter_phase(job, phase, begins);
    left_show(job, now);
}

void left_resized(struct job *job, double now, double stall, int from, int to)
{
    double seconds = now - job->as_of, scale = (double)from / to;
    move_on(job, now, seconds > stall ? seconds - stall : 0);
    job->left = job->left > 0 ? job->left * scale : job->left;
    for (int i = job->view.phase; i < job->phase_count; i++)
        job->begins[i] = job->begins[i] > 0 ? job->begins[i] * scale : job->begins[i];
    left_show(job, now);
}

void left_show(struct job *job, double now)
{
    double seconds = now - job->as_of;
    job->view.left = job->left - seconds > LEFT_LEAST ? job->left - seconds : LEFT_LEAST;
    for (int i = job->view.phase; i < job->phase_count; i++)
        job->phases[i].begins = nearer(job->begins[i], seconds);
}
