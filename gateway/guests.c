/* Who may attach, by /proc/net/tcp: see guests.h. */
#include "gateway/guests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/array.h"

enum { TIME_WAIT = 6 }; /* our end has closed it */

/* The ends of tools: inodes of their sockets. */
struct inodes {
    unsigned long *list;
    size_t count, room;
};

static char end[32]; /* how the kernel writes our address */
static struct inodes known;

void guests_port(int port)
{
    snprintf(end, sizeof end, "0100007F:%04X", (unsigned)port);
}

static bool has(const struct inodes *inodes, unsigned long inode)
{
    for (size_t i = 0; i < inodes->count; i++)
        if (inodes->list[i] == inode)
            return true;
    return false;
}

static void add(struct inodes *inodes, unsigned long inode)
{
    if (!array_reserve(&inodes->list, &inodes->room, inodes->count + 1, sizeof inode))
        inodes->list[inodes->count++] = inode;
}

/* A line of the table. Is it the other end of a connection to us that should not be? */
static bool take_line(const char *line, struct inodes *ours)
{
    char remote[64];
    unsigned state, uid;
    unsigned long inode;
    if (sscanf(line, " %*[^:]: %*s %63s %x %*s %*s %*s %u %*s %lu", remote, &state, &uid, &inode) != 4)
        return false;
    size_t length = strlen(remote);
    if (length < strlen(end) || strcmp(remote + length - strlen(end), end) || state == TIME_WAIT)
        return false;
    if (uid != geteuid() || !inode)
        return true;
    add(ours, inode);
    return false;
}

/* Who uses IPv6 to an IPv4 address stands in the other table. */
static bool strangers(struct inodes *ours)
{
    static const char *const tables[] = {"/proc/net/tcp", "/proc/net/tcp6"};
    bool found = false;
    char line[512];
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(tables[i], "re");
        while (file && fgets(line, sizeof line, file))
            found |= take_line(line, ours);
        if (file)
            fclose(file);
    }
    return found;
}

/* Forgets those that have gone. Is one there that is new? It is one of those let in from now on. */
static bool renew(const struct inodes *ours, bool admit)
{
    size_t kept = 0;
    for (size_t i = 0; i < known.count; i++)
        if (has(ours, known.list[i]))
            known.list[kept++] = known.list[i];
    known.count = kept;
    for (size_t i = 0; admit && i < ours->count; i++)
        if (!has(&known, ours->list[i])) {
            add(&known, ours->list[i]);
            return true;
        }
    return false;
}

bool guests_admit(void)
{
    struct inodes ours = {0};
    bool stranger = strangers(&ours), welcome = renew(&ours, !stranger);
    free(ours.list);
    return welcome;
}

struct guests_seen guests_look(void)
{
    struct inodes ours = {0};
    bool stranger = strangers(&ours);
    renew(&ours, false);
    free(ours.list);
    return (struct guests_seen){.guest = known.count > 0, .stranger = stranger};
}
