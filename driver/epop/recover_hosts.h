/* The hosts of `epop --recover --hosts LIST`, and which of them can be reached. */
#ifndef DRIVER_RECOVER_HOSTS_H
#define DRIVER_RECOVER_HOSTS_H

#include <stdbool.h>

#include "driver/epop/recover.h"
#include "runtime/base/error.h"

struct recover_hosts {
    struct recover_host {
        char name[256];
        int slots;
        bool up;
    } * items;
    int count; /* 0: all is on this host */
};

/* 0, or -1 with text. */
int recover_hosts_read(struct recover_hosts *hosts, const char *list, struct error *error);
void recover_hosts_free(struct recover_hosts *hosts);

/* Asks all of them, as mpiexec would reach them, and waits a few seconds at most. Their `up`. */
void recover_hosts_ask(struct recover_hosts *hosts, const struct recover_options *options);

/* Has each that is up, but this one, run that command, and waits for it as long. */
void recover_hosts_run(struct recover_hosts *hosts, const struct recover_options *options, char *const *words);

/* Slots of those that are up. */
int recover_hosts_slots(const struct recover_hosts *hosts);
/* "n1:2,n2:2" of those. The caller's to free; NULL: out of memory. */
char *recover_hosts_text(const struct recover_hosts *hosts);

#endif
