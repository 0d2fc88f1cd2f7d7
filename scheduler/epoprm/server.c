/* The socket of the daemon: see server.h. */
#include "scheduler/epoprm/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scheduler/epoprm/address.h"
#include "scheduler/epoprm/lines.h"
#include "scheduler/epoprm/listener.h"
#include "scheduler/epoprm/ops.h"
#include "scheduler/epoprm/rows.h"

static const int most_clients = 128;
static const double silence =
    300; /* seconds until one that asks nothing, and watches nothing, is let go: longer than stop waits */
static const size_t longest_request = 16 << 20; /* an environment and arguments */
static const size_t most_unsent = 16 << 20;

struct client {
    struct server *server;
    struct watched watched;
    struct lines lines;
    struct timer idle;
    bool watches, over; /* over: what is left is sent, then it is closed */
    struct client *next;
};

struct server {
    struct loop *loop;
    const struct daemon_table *table;
    void *context;
    char *path;
    struct listener listener;
    struct client *clients;
    int count;
};

/* ---- A client ----------------------------------------------------------------------------- */

static void let_go(struct client *client)
{
    struct server *server = client->server;
    struct client **at = &server->clients;
    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
    server->count--;
    timers_cancel(&server->loop->timers, &client->idle);
    loop_drop(server->loop, &client->watched);
    close(client->watched.fd);
    lines_free(&client->lines);
    free(client);
}

static void is_silent(void *context)
{
    let_go(context);
}

/* -1: the client is gone. */
static int flush(struct client *client)
{
    if (lines_send(&client->lines, client->watched.fd) || (client->over && !client->lines.out_used)) {
        let_go(client);
        return -1;
    }
    client->watched.events = (short)((client->over ? 0 : POLLIN) | (client->lines.out_used ? POLLOUT : 0));
    return 0;
}

/* JSON is ours no longer. */
static int put_json(struct client *client, cJSON *json)
{
    char *text = json ? cJSON_PrintUnformatted(json) : NULL;
    int failed = text ? lines_put(&client->lines, text) : -1;
    free(text);
    cJSON_Delete(json);
    return failed;
}

static int answer(struct client *client, const char *line)
{
    const struct server *server = client->server;
    bool watches;
    cJSON *json = ops_answer(server->table, server->context, line, &watches);
    client->watches = client->watches || watches;
    return put_json(client, json);
}

/* Half a request is no reason to stay, either. */
static void wait_for_more(struct client *client)
{
    if (client->watches)
        timers_cancel(&client->server->loop->timers, &client->idle);
    else
        timers_set(&client->server->loop->timers, &client->idle, silence);
}

static void take(struct client *client)
{
    enum lines_end end = lines_receive(&client->lines, client->watched.fd);
    for (char *line; (line = lines_next(&client->lines));) {
        if (answer(client, line)) {
            let_go(client);
            return;
        }
        wait_for_more(client);
    }
    if (end == LINES_TOO_LONG)
        put_json(client, ops_refusal("usage", "a request of more than 16 MiB"));
    client->over = end != LINES_OPEN;
    flush(client);
}

static void client_ready(void *context, short events)
{
    struct client *client = context;
    if (events & POLLIN && !client->over)
        take(client);
    else if (events & (POLLERR | POLLHUP | POLLNVAL))
        let_go(client);
    else
        flush(client);
}

/* ---- New clients -------------------------------------------------------------------------- */

static bool is_ours(int fd)
{
    struct ucred other;
    socklen_t size = sizeof other;
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &size) && other.uid == geteuid();
}

static void admit(void *context, int fd)
{
    struct server *server = context;
    struct client *client = calloc(1, sizeof *client);
    if (!client || !is_ours(fd) || server->count >= most_clients) {
        free(client);
        close(fd);
        return;
    }
    client->server = server;
    client->lines.in_most = longest_request;
    client->lines.out_most = most_unsent;
    client->watched = (struct watched){.fd = fd, .events = POLLIN, .ready = client_ready, .context = client};
    timer_init(&client->idle, is_silent, client, NULL);
    if (loop_add(server->loop, &client->watched)) {
        free(client);
        close(fd);
        return;
    }
    timers_set(&server->loop->timers, &client->idle, silence);
    client->next = server->clients;
    server->clients = client;
    server->count++;
}

/* ---- The socket --------------------------------------------------------------------------- */

static int bind_there(int fd, const struct sockaddr_un *address)
{
    mode_t mask = umask(077);
    unlink(address->sun_path);
    int failed = bind(fd, (const struct sockaddr *)address, sizeof *address);
    umask(mask);
    return failed;
}

static int listen_at(const char *path, struct error *error)
{
    struct sockaddr_un address;
    int directory;
    if (address_make(&address, &directory, path, error))
        return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int failed = fd < 0 || bind_there(fd, &address) || listen(fd, SOMAXCONN);
    if (failed)
        error_set(error, ERROR_FAILED, "%s: cannot listen there: %s", path, strerror(errno));
    close(directory);
    if (failed && fd >= 0)
        close(fd);
    return failed ? -1 : fd;
}

int server_open(struct server **result, const char *path, struct loop *loop, const struct daemon_table *table,
                void *context, struct error *error)
{
    struct server *server = calloc(1, sizeof *server);
    *result = NULL;
    if (!server || !(server->path = strdup(path))) {
        free(server);
        return error_memory(error);
    }
    *server = (struct server){.loop = loop, .table = table, .context = context, .path = server->path};
    int fd = listen_at(path, error);
    if (fd >= 0 && !listener_begin(&server->listener, loop, fd, admit, server)) {
        *result = server;
        return 0;
    }
    int failed = fd < 0 ? -1 : error_memory(error);
    if (fd >= 0)
        close(fd);
    free(server->path);
    free(server);
    return failed;
}

void server_close(struct server *server)
{
    if (!server)
        return;
    while (server->clients) {
        lines_send(&server->clients->lines, server->clients->watched.fd);
        let_go(server->clients);
    }
    listener_end(&server->listener);
    close(server->listener.watched.fd);
    unlink(server->path);
    free(server->path);
    free(server);
}

/* ---- Events ------------------------------------------------------------------------------- */

/* It cannot go at once: this may be within its own request. The loop hears that the connection is shut. */
static void give_up(struct client *client)
{
    client->watches = false;
    client->lines.out_used = 0;
    shutdown(client->watched.fd, SHUT_RDWR);
}

void server_tell(void *context, const struct journal_event *event)
{
    struct server *server = context;
    for (struct client *client = server->clients; client; client = client->next) {
        if (client->watches && put_json(client, row_event(event)))
            give_up(client);
        if (client->watches)
            client->watched.events |= POLLOUT;
    }
}

int server_clients(const struct server *server)
{
    return server->count;
}
