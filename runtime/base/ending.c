/* Ending the job: the last words are printed and read before any process goes. */
#include "runtime/base/ending.h"
#include "runtime/base/say.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ_TIMEOUT_MS 1000

static const struct ending_hooks *present;
static _Thread_local bool here;

void ending_set(const struct ending_hooks *hooks)
{
    present = hooks;
}

/* The process manager may drop what still stands in the pipe when it hears of the end. */
static void wait_until_read(int output)
{
    int unread = 1;
    for (int ms = 0; ms < READ_TIMEOUT_MS && ioctl(output, FIONREAD, &unread) == 0 && unread > 0; ms++)
        usleep(1000);
}

void ending_flush(void)
{
    fflush(NULL);
    wait_until_read(STDOUT_FILENO);
    wait_until_read(STDERR_FILENO);
}

void ending_say(const char *text)
{
    say_line("%s", text);
    fflush(NULL);
    wait_until_read(STDERR_FILENO);
}

void ending_write(const char *text)
{
    char line[640];
    int length = snprintf(line, sizeof line, "epop: %s\n", text);
    if (write(STDERR_FILENO, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1) > 0)
        wait_until_read(STDERR_FILENO);
}

/* A report on a crash has more than the one line that is the reason. What the hook prints is to be read, too. */
void ending_say_failing(const char *text)
{
    char line[512];
    ending_say(text);
    snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
    if (present && present->failing)
        present->failing(line);
    ending_flush();
}

bool ending_here(void)
{
    return here;
}

void ending_quit(int status)
{
    for (;;)
        syscall(SYS_exit_group, status);
}

void ending_end(const char *text, int status)
{
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&begun))
        for (;;)
            pause(); /* another thread is at it */
    here = true;
    if (text)
        ending_say_failing(text);
    if (present && present->end)
        present->end(status);
    ending_quit(status);
}

void ending_abort(const char *text)
{
    ending_end(text, 1);
}
