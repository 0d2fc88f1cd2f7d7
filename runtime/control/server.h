/* The server of process 0, as the files beside it see it. service.c starts and ends it. */
#ifndef EPOP_CONTROL_SERVER_H
#define EPOP_CONTROL_SERVER_H

#include <pmix.h>
#include <pthread.h>
#include <stdbool.h>

#include "runtime/control/control.h"

struct control_server {
    pthread_mutex_t lock;
    pthread_cond_t idle;
    bool open;   /* control_serve succeeded, PMIx may be called */
    bool ending; /* control_unserve has begun */
    int users;   /* threads between enter and leave */
    const struct control_server_ops *ops;
    void *context;
    pmix_proc_t self;
    char uri[CONTROL_URI_MAX];
    char token[CONTROL_TOKEN_MAX];
    char tmpdir[512];
    char jobfile[512];
};

/* There is one. What has no accessor below is service.c's. */
extern struct control_server control_server;

/* PMIx may be called between enter and leave only: PMIx_server_finalize would wait for a callback that waits
 * for it. -1 when there is no server, or it is going. */
int control_server_enter(void);
void control_server_leave(void);
const struct control_server_ops *control_server_ops(void **context);
const char *control_server_token(void);
/* control_unserve has begun: whoever goes now is no loss. */
bool control_server_ending(void);

#endif
