/* The adviser's port and file: see listening.h. */
#include "scheduler/slurm/listening.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <netinet/in.h>

#include "runtime/base/paths.h"
#include "runtime/wire/socket.h"

static int name_file(struct listening *listening, const char *file, struct error *error)
{
    size_t size = sizeof listening->file;
    if (file)
        snprintf(listening->file, size, "%s", file);
    else if (!geteuid())
        snprintf(listening->file, size, "/etc/epop/adviser");
    else if (statedir_path(listening->file, size, "run/adviser"))
        return error_set(error, ERROR_REFUSED, "there is no HOME for the file that names the adviser: --address-file");
    if (make_parents(listening->file, geteuid() || file ? 0700 : 0755)) /* below /etc all may read */
        return error_set(error, ERROR_FAILED, "%s: %s", listening->file, strerror(errno));
    return 0;
}

/* *port: it gets it. The number stands at the same place for both protocols. A descriptor, or -1 with text. */
static int open_either(int *port, struct error *error)
{
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)*port), .sin6_addr = in6addr_any};
    struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
    socklen_t size = sizeof any, size4 = sizeof any4;
    int fd = wire_listen_address((struct sockaddr *)&any, &size, error);
    if (fd < 0) {
        fd = wire_listen_address((struct sockaddr *)&any4, &size4, error);
        any.sin6_port = any4.sin_port;
    }
    if (fd >= 0)
        *port = ntohs(any.sin6_port);
    return fd;
}

static int write_file(const struct listening *listening, struct error *error)
{
    char fresh[sizeof listening->file + 8];
    snprintf(fresh, sizeof fresh, "%s.new", listening->file);
    FILE *file = fopen(fresh, "we");
    bool written = file && fprintf(file, "%s\n", listening->address) > 0;
    if (file)
        written = !fclose(file) && written;
    if (!written || chmod(fresh, 0644) || rename(fresh, listening->file))
        return error_set(error, ERROR_FAILED, "%s: %s", listening->file, strerror(errno));
    return 0;
}

/* Jobs that run look for the next adviser where the last one was. */
static int last_port(const char *memory)
{
    FILE *file = fopen(memory, "re");
    int port = 0;
    if (file && (fscanf(file, "%5d", &port) < 1 || port < 1 || port > 65535))
        port = 0;
    if (file)
        fclose(file);
    return port;
}

static void remember_port(const char *memory, int port)
{
    FILE *file = fopen(memory, "we");
    if (file)
        fprintf(file, "%d\n", port), fclose(file);
}

int listening_begin(struct listening *listening, int port, const char *file, const char *memory, struct error *error)
{
    char host[256] = "localhost";
    int wished = port, last = port ? 0 : last_port(memory);
    *listening = (struct listening){.fd = -1};
    if (name_file(listening, file, error))
        return -1;
    if (last)
        listening->fd = open_either(&last, error);
    if (listening->fd < 0)
        listening->fd = open_either(&port, error);
    else
        port = last;
    if (listening->fd < 0)
        return error_set(error, ERROR_FAILED, "port %d: %s", wished, error->text);
    gethostname(host, sizeof host - 1);
    snprintf(listening->address, sizeof listening->address, "%s:%d", host, port);
    remember_port(memory, port);
    if (!write_file(listening, error))
        return 0;
    close(listening->fd);
    return -1;
}

void listening_end(struct listening *listening)
{
    char line[sizeof listening->address] = "";
    FILE *file = fopen(listening->file, "re");
    if (!file)
        return;
    bool ours = fgets(line, sizeof line, file) && (line[strcspn(line, "\n")] = '\0', !strcmp(line, listening->address));
    fclose(file);
    if (ours)
        unlink(listening->file);
}
