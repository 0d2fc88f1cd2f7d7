/* Letters between threads: see mail.h. */
#include "scheduler/attend/mail.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

int mail_open(struct mail *mail)
{
    pthread_mutex_init(&mail->lock, NULL);
    mail->first = NULL;
    mail->last = &mail->first;
    mail->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return mail->fd < 0 ? -1 : 0;
}

void mail_put(struct mail *mail, int kind, int64_t number, const char *text)
{
    struct letter *letter = calloc(1, sizeof *letter);
    if (!letter)
        return;
    letter->kind = kind;
    letter->number = number;
    letter->text = text ? strdup(text) : NULL;
    pthread_mutex_lock(&mail->lock);
    *mail->last = letter;
    mail->last = &letter->next;
    pthread_mutex_unlock(&mail->lock);
    eventfd_write(mail->fd, 1);
}

struct letter *mail_take(struct mail *mail)
{
    eventfd_t count;
    pthread_mutex_lock(&mail->lock);
    struct letter *letter = mail->first;
    if (letter && !(mail->first = letter->next))
        mail->last = &mail->first;
    if (!letter)
        eventfd_read(mail->fd, &count);
    pthread_mutex_unlock(&mail->lock);
    return letter;
}

void mail_free(struct letter *letter)
{
    free(letter->text);
    free(letter);
}
