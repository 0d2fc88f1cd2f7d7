/* The one server: see server.h. */
#include "runtime/control/server.h"

struct control_server control_server = {.lock = PTHREAD_MUTEX_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER};

int control_server_enter(void)
{
    pthread_mutex_lock(&control_server.lock);
    bool open = control_server.open;
    control_server.users += open;
    pthread_mutex_unlock(&control_server.lock);
    return open ? 0 : -1;
}

void control_server_leave(void)
{
    pthread_mutex_lock(&control_server.lock);
    if (--control_server.users == 0)
        pthread_cond_broadcast(&control_server.idle);
    pthread_mutex_unlock(&control_server.lock);
}

const struct control_server_ops *control_server_ops(void **context)
{
    *context = control_server.context;
    return control_server.ops;
}

bool control_server_ending(void)
{
    pthread_mutex_lock(&control_server.lock);
    bool ending = control_server.ending;
    pthread_mutex_unlock(&control_server.lock);
    return ending;
}

const char *control_server_token(void)
{
    return control_server.token;
}
