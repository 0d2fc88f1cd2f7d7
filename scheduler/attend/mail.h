/* What other threads tell the one of the loop. */
#ifndef SCHEDULER_ATTEND_MAIL_H
#define SCHEDULER_ATTEND_MAIL_H

#include <pthread.h>
#include <stdint.h>

struct letter {
    struct letter *next;
    int kind; /* what it is about, is a matter of who writes and who reads */
    int64_t number;
    char *text; /* may be NULL */
};

struct mail {
    pthread_mutex_t lock;
    struct letter *first, **last;
    int fd; /* to be read from, when there is something */
};

/* 0 or -1. */
int mail_open(struct mail *mail);
/* Any thread; the text is copied. Without memory it is lost, and whoever waits for it has a time limit. */
void mail_put(struct mail *mail, int kind, int64_t number, const char *text);
/* The oldest; NULL: there is none. */
struct letter *mail_take(struct mail *mail);
void mail_free(struct letter *letter);

#endif
