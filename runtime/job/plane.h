/*
 * A process's connection to its job's control plane: in process 0 the server and the coordinator, elsewhere an
 * attachment that is made before the program's INIT.
 */
#ifndef EPOP_JOB_PLANE_H
#define EPOP_JOB_PLANE_H

#include <pthread.h>
#include <stddef.h>

#include "runtime/base/binding.h"
#include "runtime/base/error.h"
#include "runtime/control/control.h"
#include "runtime/coordinator/coordinator.h"
#include "runtime/job/elastic.h"

#define IDENTITY_MAX 200

struct plane {
    struct member *member;
    struct coordinator *coordinator; /* in process 0 */
    char uri[CONTROL_URI_MAX], token[CONTROL_TOKEN_MAX];
    pthread_mutex_t lock;
    char identity[IDENTITY_MAX];  /* EPOP, the MPI library and the program, in one line: the same in all processes */
    char cores[BINDING_TEXT_MAX]; /* that this process is bound to; "": it is not */
    bool quiet;                   /* no progress bar */
    bool no_gateway;              /* nothing answers what tools of PMIx ask */
    bool verbose;                 /* process 0 prints events on stderr */
    bool attached;
    bool aborting;      /* process 0 is about to end, and has said why */
    cJSON *undelivered; /* messages from before the attachment, an array */
};

/* Before it starts: which program this process runs. Local. */
void plane_identify(struct plane *plane, const char *path);

/* Of the first processes. Nobody else knows of it until it is open. config lacks job, ops and context, which are filled
 * in here. Collective over the launch (one broadcast). 0, or -1 with one line of text. */
int plane_start(struct plane *plane, struct member *member, struct coordinator_config *config, struct error *error);

/* In process 0: whoever finds the address file may ask from now on, so what is needed to answer comes before. 0, or -1
 * with text. */
int plane_open(const struct plane *plane, const epop_program_t *program, struct error *error);

/* In a process that was started to join: attaches to the server of that address. Local. 0, or -1 with text. */
int plane_follow(struct plane *plane, struct member *member, const char *uri, const char *token, struct error *error);

/* Sends to the coordinator, or keeps it until there is a connection. Never blocks. 0 or -1. */
int plane_tell(struct plane *plane, const cJSON *message);

/* After the coordinator's "finish": takes everything down. Collective. False, in process 0 alone, if processes are
 * stuck, which it names; then the server stays. */
bool plane_stop(struct plane *plane, char *stuck, size_t size);

#endif
