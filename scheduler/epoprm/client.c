/* Asking the daemon: see client.h. */
#include "scheduler/epoprm/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "runtime/base/json.h"
#include "scheduler/epoprm/address.h"
#include "scheduler/epoprm/command.h"
#include "scheduler/epoprm/place.h"
#include "scheduler/epoprm/say.h"

static const double usual = 30; /* seconds */

static int connect_there(const char *path, struct error *error)
{
    struct sockaddr_un address;
    int directory;
    if (address_make(&address, &directory, path, error))
        return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address)) {
        close(fd);
        fd = -1;
    }
    close(directory);
    return fd;
}

static void set_limit(int fd, double seconds)
{
    struct timeval limit = {.tv_sec = (time_t)seconds, .tv_usec = (suseconds_t)(1e6 * (seconds - (int)seconds))};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

FILE *client_connect(double seconds, bool quiet, int *code)
{
    char path[PLACE_MAX];
    struct error error;
    *code = RM_USAGE;
    if (place_file(path, "socket", &error)) {
        rm_complain("%s", error.text);
        return NULL;
    }
    int fd = connect_there(path, &error);
    FILE *daemon = fd >= 0 ? fdopen(fd, "r+") : NULL;
    *code = daemon ? RM_DONE : RM_NO_JOB;
    if (!daemon && !quiet)
        rm_complain("no daemon answers at %s: epoprm start begins one", path);
    if (daemon && seconds > 0)
        set_limit(fd, seconds);
    return daemon;
}

cJSON *client_next(FILE *daemon)
{
    char *line = NULL;
    size_t room = 0;
    errno = 0;
    cJSON *json = getline(&line, &room, daemon) > 0 ? cJSON_Parse(line) : NULL;
    free(line);
    return json;
}

static int send_request(FILE *daemon, const cJSON *request)
{
    char *text = cJSON_PrintUnformatted(request);
    int failed = !text || fputs(text, daemon) < 0 || fputc('\n', daemon) == EOF || fflush(daemon);
    free(text);
    fseek(daemon, 0, SEEK_CUR);
    return failed ? -1 : 0;
}

static int code_of(const cJSON *answer)
{
    const char *code = json_text(answer, "code");
    if (code && !strcmp(code, "unknown"))
        return RM_NO_JOB;
    return code && !strcmp(code, "usage") ? RM_USAGE : RM_REFUSED;
}

cJSON *client_ask(FILE *daemon, const cJSON *request, int *code)
{
    cJSON *answer = send_request(daemon, request) ? NULL : client_next(daemon);
    bool late = !answer && (errno == EAGAIN || errno == EWOULDBLOCK);
    *code = answer ? RM_DONE : late ? RM_TIMEOUT : RM_REFUSED;
    if (!answer)
        rm_complain(late ? "the daemon does not answer" : "the daemon went away: its log says why");
    if (!answer || json_true(answer, "ok"))
        return answer;
    rm_complain("%s", json_text(answer, "reason") ? json_text(answer, "reason") : "refused");
    *code = code_of(answer);
    cJSON_Delete(answer);
    return NULL;
}

cJSON *client_request(cJSON *request, int *code)
{
    FILE *daemon = client_connect(usual, false, code);
    cJSON *answer = daemon ? client_ask(daemon, request, code) : NULL;
    cJSON_Delete(request);
    if (daemon)
        fclose(daemon);
    return answer;
}
