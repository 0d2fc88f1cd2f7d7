/* What the files of epopctl share. epopctl knows a job by its address file, and talks to it as a PMIx tool. */
#ifndef EPOP_CTL_H
#define EPOP_CTL_H

#include <cjson/cJSON.h>
#include <stdio.h>

/* Exit codes, the same for every command. */
enum { CTL_DONE = 0, CTL_REFUSED = 1, CTL_USAGE = 2, CTL_NO_JOB = 3, CTL_TIMEOUT = 4 };

/* ---- arguments.c ------------------------------------------------------------ */

typedef struct ctl_arguments {
    const char *job;           /* NULL: the only one there is */
    const char *size;          /* resize: N, +N or -N */
    const char *hosts;         /* resize: where joining ranks come from */
    const char *release;       /* resize: hosts to give up */
    const char *release_ranks; /* resize: ranks to give up */
    const char *place;         /* break: PHASE[:ITERATION][@RANK] */
    int remove;                /* break: that one goes */
    int wait, json, help, once;
    int timeout_ms;
} ctl_arguments_t;

/* Which options a command takes. */
enum {
    CTL_TAKES_JSON = 1,
    CTL_TAKES_WAIT = 2,
    CTL_TAKES_TIMEOUT = 4,
    CTL_TAKES_RESIZE = 8,
    CTL_TAKES_JOB = 16,
    CTL_TAKES_PLACE = 32,
    CTL_TAKES_ONCE = 64
};

typedef struct ctl_command {
    const char *name, *synopsis, *summary, *details;
    int takes;
    int (*run)(const ctl_arguments_t *arguments);
} ctl_command_t;

/* The commands; ends with a NULL name. In main.c. */
extern const ctl_command_t ctl_commands[];

/* What stands behind the command's name. 0, or -1 after one line on stderr. */
int ctl_parse(const ctl_command_t *command, int argc, char **argv, ctl_arguments_t *arguments);

/* One line on stderr, "epopctl: ...". */
void ctl_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- jobs.c: address files ----------------------------------------------------- */

typedef struct ctl_job {
    char id[128], uri[512], token[65], host[256], program[256];
    long pid;
    unsigned long long start_time;
    int here; /* on this host, so that its process can be looked at */
} ctl_job_t;

/* All jobs, sorted by id; stale files are removed. *jobs is the caller's to free. How many. */
int ctl_jobs(ctl_job_t **jobs);
/* The job that `name` (or a unique beginning of it; NULL: any) means. CTL_DONE, or another exit code after one
 * line on stderr. */
int ctl_job_select(const char *name, ctl_job_t *job);
/* Whether the job's process is there, as far as it can be seen from here. */
int ctl_job_alive(const ctl_job_t *job);
/* Whether its address file is still there: a job that ends removes it before it stops answering, and its process may
 * live on for a while. */
int ctl_job_listed(const ctl_job_t *job);

/* ---- client.c: a connection to one job ------------------------------------------- */

typedef void (*ctl_event_fn)(void *context, const cJSON *event);

/* Attaches. CTL_DONE, or another exit code after one line on stderr. `event` may be NULL; it is called on another
 * thread. */
int ctl_connect(const ctl_job_t *job, ctl_event_fn event, void *context, int timeout_ms);
/* Sends a request and waits for the answer, which the caller deletes. NULL after one line on stderr, with the exit
 * code in *code. */
cJSON *ctl_ask(const cJSON *request, int timeout_ms, int *code);
/* The same without a line where it fails. */
cJSON *ctl_ask_quietly(const cJSON *request, int timeout_ms, int *code);
/* Waits until the job says goodbye or the connection is gone. 0, or -1 after timeout_ms (< 0: forever). */
int ctl_wait_end(int timeout_ms);
/* Those who wait for the end go on as if it had come. */
void ctl_end(void);
/* Detaches, or just forgets the connection when the job does not answer. */
void ctl_disconnect(void);
/* Connects, asks, disconnects. */
cJSON *ctl_ask_job(const ctl_job_t *job, const cJSON *request, int timeout_ms, int *code);

/* The exit code that an answer means. */
int ctl_code_of(const cJSON *answer);

/* ---- output.c ---------------------------------------------------------------------- */

/* A table: aligned for people, tab-separated when stdout is no terminal. Cells are copied. */
typedef struct ctl_table ctl_table_t;
ctl_table_t *ctl_table_new(int columns, const char *const *titles);
void ctl_table_add(ctl_table_t *table, const char *const *cells);
void ctl_table_print(ctl_table_t *table); /* and frees it */
int ctl_for_people(void);

void ctl_print_json(const cJSON *json);
/* Members of a JSON object, with a default where they are missing. */
const char *ctl_text(const cJSON *object, const char *name, const char *otherwise);
double ctl_number(const cJSON *object, const char *name, double otherwise);
/* "3 d 4 h", "5 min 6 s", "1.2 s" */
void ctl_duration(double seconds, char text[32]);

/* ---- live.c: what watch and top show ------------------------------------------------- */

typedef struct ctl_live {
    char progress[32], left[32], mtct[32], resize[64]; /* "-" where there is none */
} ctl_live_t;
void ctl_live(const cJSON *status, ctl_live_t *live);
/* One line, no longer than the terminal is wide. */
void ctl_live_line(const cJSON *status, char *text, size_t size);
/* Of the terminal. */
int ctl_columns(void);

/* ---- list.c ------------------------------------------------------------------------------ */

/* Asks all jobs at a time. *jobs and *statuses, of the same order, are the caller's to free; one that does not answer
 * has the state "unreachable". How many; -1 when out of memory. */
int ctl_ask_all(ctl_job_t **jobs, cJSON ***statuses);

/* ---- the commands --------------------------------------------------------------------- */

int ctl_list(const ctl_arguments_t *arguments);
int ctl_status(const ctl_arguments_t *arguments);
int ctl_top(const ctl_arguments_t *arguments);
int ctl_where(const ctl_arguments_t *arguments);
int ctl_resize(const ctl_arguments_t *arguments);
int ctl_pause(const ctl_arguments_t *arguments);
int ctl_resume(const ctl_arguments_t *arguments);
int ctl_stop(const ctl_arguments_t *arguments);
int ctl_cancel(const ctl_arguments_t *arguments);
int ctl_watch(const ctl_arguments_t *arguments);
int ctl_break(const ctl_arguments_t *arguments);
int ctl_step(const ctl_arguments_t *arguments);
int ctl_continue(const ctl_arguments_t *arguments);

#endif
