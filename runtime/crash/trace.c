/*
 * The stack is unwound here, in the crashed thread; the addresses are turned into names by a helper
 * (driver/helpers/backtrace.c), a process of its own, since reading debug information needs a heap that can be trusted.
 */
#include "runtime/crash/trace.h"

#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/base/paths.h"

#define FRAMES_MAX     128
#define HELPER_SECONDS 3

static char helper[4096];
static void *frames[FRAMES_MAX + 1];
static sigjmp_buf way_out;
static volatile sig_atomic_t unwinding;

void trace_prepare(void)
{
    backtrace(frames, 1); /* the first call loads libgcc, which must not happen in a handler */
    helper_find("backtrace", helper, sizeof helper);
}

/* ---- Unwinding ---------------------------------------------------------------------------------- */

struct registers {
    uintptr_t counter, stack;
};

static struct registers registers_of(const void *context)
{
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
    return (struct registers){(uintptr_t)machine->gregs[REG_RIP], (uintptr_t)machine->gregs[REG_RSP]};
#elif defined(__aarch64__)
    return (struct registers){machine->pc, machine->sp};
#else
    (void)machine;
    return (struct registers){0, 0};
#endif
}

uintptr_t trace_stack_pointer(const void *context)
{
    return registers_of(context).stack;
}

/* As if the function, which has only just been called, returned. */
static void step_out(void *context)
{
    mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
    machine->gregs[REG_RIP] = *(greg_t *)machine->gregs[REG_RSP]; /* NOLINT */
    machine->gregs[REG_RSP] += (greg_t)sizeof(greg_t);
#elif defined(__aarch64__)
    machine->pc = machine->regs[30];
#else
    (void)machine;
#endif
}

/* The frames from the one at `counter` on, which stay in `frames` from number `to` on: those before it are the
 * handler's. How many; 0: it is not among them. */
static int unwind_from(uintptr_t counter, int to)
{
    int count = backtrace(frames + to, FRAMES_MAX - to), first = to;
    while (first < to + count && (uintptr_t)frames[first] != counter)
        first++;
    int kept = to + count - first;
    memmove(frames + to, frames + first, (size_t)kept * sizeof *frames);
    return kept;
}

/* From a call to where there is no code one gets no further, but from its caller. */
static int unwind_stack(void *context)
{
    uintptr_t counter = registers_of(context).counter;
    int count = counter ? unwind_from(counter, 0) : 0;
    if (count > 0)
        return count;
    mcontext_t before = ((ucontext_t *)context)->uc_mcontext;
    step_out(context);
    count = 1 + unwind_from(registers_of(context).counter, 1);
    frames[0] = (void *)counter; /* NOLINT */
    ((ucontext_t *)context)->uc_mcontext = before;
    return count;
}

void trace_give_up(void)
{
    if (unwinding)
        siglongjmp(way_out, 1);
}

/* A stack that was written over can lead anywhere. */
static int collect_frames(void *context)
{
    if (sigsetjmp(way_out, 1) != 0) {
        unwinding = 0;
        frames[0] = (void *)registers_of(context).counter; /* NOLINT */
        return 1;
    }
    unwinding = 1;
    int count = unwind_stack(context);
    unwinding = 0;
    return count;
}

/* ---- The helper --------------------------------------------------------------------------------- */

static void become_helper(int in, int out, char *pid)
{
    char *const arguments[] = {helper, pid, NULL}, *const environment[] = {NULL};
    sigset_t none;
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    alarm(HELPER_SECONDS);
    signal(SIGALRM, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(helper, arguments, environment);
    _exit(127);
}

/* Reads to the end; the alarm that the helper runs under sees to that there is one. */
static void read_answer(struct crash_text *text, int in)
{
    size_t room;
    ssize_t got = 1;
    struct pollfd ready = {.fd = in, .events = POLLIN};
    while (got > 0 && (room = sizeof text->bytes - 1 - text->used) > 0 &&
           poll(&ready, 1, (HELPER_SECONDS + 1) * 1000) > 0) {
        got = read(in, text->bytes + text->used, room);
        text->used += got > 0 ? (size_t)got : 0;
    }
    text->bytes[text->used] = 0;
}

/* The addresses go into a pipe that holds them all before anybody reads. */
static bool ask_helper(struct crash_text *text, int count)
{
    struct crash_text pid = {0};
    int questions[2], answers[2];
    size_t before = text->used, size = (size_t)count * sizeof *frames;
    if (!helper[0] || pipe2(questions, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0)
        return false; /* what is open by now is closed by the end of the process */
    text_add_number(&pid, getpid());
    bool written = write(questions[1], frames, size) == (ssize_t)size;
    close(questions[1]);
    pid_t child = written ? _Fork() : -1;
    if (child == 0)
        become_helper(questions[0], answers[1], pid.bytes);
    close(answers[1]);
    if (child > 0) {
        read_answer(text, answers[0]);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    return text->used > before;
}

static void add_addresses(struct crash_text *text, int count)
{
    for (int i = 0; i < count && i < 16; i++) {
        text_add(text, "  #");
        text_add_number(text, i);
        text_add(text, " ");
        text_add_address(text, (uintptr_t)frames[i]);
        text_add(text, "\n");
    }
}

void trace_add(struct crash_text *text, void *context)
{
    int count = collect_frames(context);
    if (!ask_helper(text, count))
        add_addresses(text, count);
}
