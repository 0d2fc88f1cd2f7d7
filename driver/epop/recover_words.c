/* What the job says: see recover_words.h. */
#include "driver/epop/recover_words.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/random.h"
#include "runtime/wire/socket.h"
#include "runtime/control/supervisor.h"

/* ---- The environment of the job ---------------------------------------------------------- */

static int listen_at(bool anywhere, int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl(anywhere ? INADDR_ANY : INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof address) && !listen(fd, WORDS_MOST) &&
        !getsockname(fd, (struct sockaddr *)&address, &size)) {
        *port = ntohs(address.sin_port);
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

int words_open(struct words *words, bool anywhere, struct error *error)
{
    char text[400], own[256] = "localhost";
    const char *address = getenv("EPOP_CONTROL_ADDRESS");
    int port;
    *words = (struct words){.chief = -1};
    for (int i = 0; i < WORDS_MOST; i++)
        words->callers[i].fd = -1;
    gethostname(own, sizeof own - 1);
    words->listener = listen_at(anywhere, &port);
    if (words->listener < 0)
        return error_set(error, ERROR_FAILED, "cannot listen to the job: %s", strerror(errno));
    if (random_hex(words->token, 16)) {
        close(words->listener);
        return error_set(error, ERROR_FAILED, "the kernel gives no random numbers");
    }
    snprintf(text, sizeof text, "%s %d %s", anywhere && address && *address ? address : own, port, words->token);
    setenv(SUPERVISOR, text, 1);
    return 0;
}

static void drop(struct words *words, int i)
{
    close(words->callers[i].fd);
    words->callers[i].fd = -1;
    if (words->chief == i)
        words->chief = -1;
}

void words_close(struct words *words)
{
    for (int i = 0; i < WORDS_MOST; i++)
        if (words->callers[i].fd >= 0)
            drop(words, i);
    close(words->listener);
}

/* ---- Lines ------------------------------------------------------------------------------------ */

static void take_place(struct words *words, const char *text)
{
    struct words_place place = {0};
    if (sscanf(text, "%llu %d %d %lld %127s", &place.count, &place.size, &place.pc, &place.iteration, place.element) ==
        5)
        words->place = place;
}

static void take_state(struct words *words, const char *text)
{
    struct words_state state = {0};
    if (sscanf(text, "%23s %d %lf", state.from, &state.number, &state.time) == 3)
        words->state = state;
}

static void take_saved(struct words *words, const char *text)
{
    struct words_saved saved;
    if (sscanf(text, "%d %llu", &saved.number, &saved.count) != 2)
        return;
    memmove(words->saved + 1, words->saved, sizeof words->saved - sizeof saved);
    words->saved[0] = saved;
}

/* How it ends; the first word counts. */
static void take_end(struct words *words, enum word word, const char *rest)
{
    int used = 0;
    if (words->word)
        return;
    words->word = word;
    sscanf(rest, "%d %n", &words->status, &used);
    snprintf(words->text, sizeof words->text, "%s", used ? rest + used : "");
}

static bool begins(const char **line, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*line, word, length) || (*line)[length] != ' ')
        return false;
    *line += length + 1;
    return true;
}

static void hear(int fd)
{
    send(fd, "k", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The first line of a connection; false: it is nobody of the job. */
static bool greet(struct words *words, int i, const char *line)
{
    static const struct {
        const char *text;
        enum word word;
    } ends[] = {{SUPERVISOR_ENDED, WORD_ENDED},
                {SUPERVISOR_FAILED, WORD_FAILED},
                {SUPERVISOR_FAULT, WORD_FAULT},
                {SUPERVISOR_FITS, WORD_FITS}};
    struct caller *caller = &words->callers[i];
    if (!begins(&line, words->token))
        return false;
    if (begins(&line, SUPERVISOR_BEGINS)) {
        caller->known = words->begun = true;
        words->chief = i;
        wire_socket_tune(caller->fd);
    }
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
        if (begins(&line, ends[e].text))
            take_end(words, ends[e].word, line);
    hear(caller->fd);
    return true;
}

static bool take_line(struct words *words, int i, const char *line)
{
    if (!words->callers[i].known)
        return greet(words, i, line);
    if (begins(&line, SUPERVISOR_AT))
        take_place(words, line);
    else if (begins(&line, SUPERVISOR_SAVED))
        take_saved(words, line);
    else if (begins(&line, SUPERVISOR_RUNS))
        take_state(words, line);
    return true;
}

/* All whole lines; false: it is to be dropped. */
static bool take_lines(struct words *words, int i)
{
    struct caller *caller = &words->callers[i];
    char *begin = caller->line, *end;
    while ((end = memchr(begin, '\n', caller->used - (size_t)(begin - caller->line)))) {
        *end = '\0';
        if (!take_line(words, i, begin))
            return false;
        begin = end + 1;
    }
    caller->used -= (size_t)(begin - caller->line);
    memmove(caller->line, begin, caller->used);
    return caller->used < sizeof caller->line - 1;
}

static void take_from(struct words *words, int i)
{
    struct caller *caller = &words->callers[i];
    for (;;) {
        ssize_t n = recv(caller->fd, caller->line + caller->used, sizeof caller->line - 1 - caller->used, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        caller->used += n > 0 ? (size_t)n : 0;
        if (n <= 0 || !take_lines(words, i)) {
            drop(words, i);
            return;
        }
    }
}

static void take_new(struct words *words)
{
    int fd;
    while ((fd = accept4(words->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        int i = 0;
        while (i < WORDS_MOST && words->callers[i].fd >= 0)
            i++;
        if (i == WORDS_MOST)
            close(fd);
        else
            words->callers[i] = (struct caller){.fd = fd};
    }
}

int words_fds(const struct words *words, struct pollfd *fds)
{
    int count = 0;
    fds[count++] = (struct pollfd){.fd = words->listener, .events = POLLIN};
    for (int i = 0; i < WORDS_MOST; i++)
        if (words->callers[i].fd >= 0)
            fds[count++] = (struct pollfd){.fd = words->callers[i].fd, .events = POLLIN};
    return count;
}

void words_take(struct words *words)
{
    take_new(words);
    for (int i = 0; i < WORDS_MOST; i++)
        if (words->callers[i].fd >= 0)
            take_from(words, i);
}

void words_tell(const struct words *words, const char *line)
{
    int fd = words->chief >= 0 ? words->callers[words->chief].fd : -1;
    if (fd >= 0 && send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE) >= 0)
        send(fd, "\n", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool words_is_lost(const struct words *words)
{
    return words->begun && words->chief < 0;
}
