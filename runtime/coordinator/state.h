/*
 * The coordinator's state: a part for each of its modules, which alone writes it; the others ask or tell by the
 * functions of the module's header. Of a process, process.h says field by field whose it is. For the files of this
 * folder; backends see processes.h and adaptation.h.
 */
#ifndef EPOP_COORDINATOR_STATE_H
#define EPOP_COORDINATOR_STATE_H

#include <pthread.h>

#include "runtime/base/timers.h"
#include "runtime/coordinator/adaptation.h"
#include "runtime/coordinator/agreement.h"
#include "runtime/coordinator/balance.h"
#include "runtime/coordinator/changes.h"
#include "runtime/coordinator/checkpoint.h"
#include "runtime/coordinator/coordinator.h"
#include "runtime/coordinator/debugging.h"
#include "runtime/coordinator/departures.h"
#include "runtime/coordinator/events.h"
#include "runtime/coordinator/inquiries.h"
#include "runtime/coordinator/liveness.h"
#include "runtime/coordinator/measure.h"
#include "runtime/coordinator/position.h"
#include "runtime/coordinator/process.h"
#include "runtime/coordinator/progress.h"
#include "runtime/coordinator/releases.h"
#include "runtime/coordinator/resize.h"
#include "runtime/coordinator/settle.h"
#include "runtime/coordinator/stop.h"
#include "runtime/coordinator/survey.h"
#include "runtime/world/backend.h"

/* The end of the program. */
struct ending {
    bool begun;         /* all ranks have ended */
    struct timer limit; /* for called off processes that do not come; set: they may still */
    bool finished;      /* every process was told of the end */
};

struct coordinator {
    struct coordinator_config config;
    struct backend_ways ways; /* of the backend */
    char *job, *path;
    cJSON *arguments; /* an array of texts */
    double started;
    pthread_t thread;

    struct timers timers;         /* each module has its own in its part */
    struct timer_group limits;    /* they stand still while the ranks are stopped for a debugger */
    struct timer_group preparing; /* in a pause, too */

    struct events events;
    struct processes processes;
    struct adaptations adaptations;
    struct changes changes;
    struct inquiries inquiries;
    struct ahead ahead;
    struct preconnect preconnect;
    struct settling settling;
    struct agreement agreement;
    struct stuck stuck;
    struct pause pause;
    struct checkpoints checkpoints;
    struct stop stop;
    struct halts halts; /* with the debug driver */
    struct rollcall rollcall;
    struct position_inquiry position;
    struct progress progress;
    struct speeds speeds;
    struct told_hosts told_hosts;
    struct silence silence;
    struct survey survey;
    struct measure measure;
    struct balance balance;
    struct watchdog watchdog;
    struct dump dump;
    struct resize_requests requests;
    struct slurm_jobs slurm_jobs;
    struct releases releases;
    struct departures departures;
    struct ending ending;
};

#endif
