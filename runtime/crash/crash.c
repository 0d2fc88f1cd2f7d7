/*
 * From the signal to the report. Only what is safe in a signal handler, except for the thread that delivers the
 * report.
 */
#include "runtime/crash/crash.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/ending.h"
#include "runtime/base/host.h"
#include "runtime/base/thread.h"
#include "runtime/crash/text.h"
#include "runtime/crash/trace.h"
#include "runtime/records/records.h"

#define DELIVER_MS 1000 /* to hand the report over */
#define FIRST_MS   500  /* for another process to print its report, and the launcher to end this one */
#define ENDED_MS   3500 /* to be ended, once it is handed over */

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
#define SIGNAL_COUNT (sizeof signals / sizeof *signals)

static struct {
    const struct live_position *live;
    int process;
    crash_deliver_fn deliver;
    char host[HOST_OWN_MAX];
    pid_t program_thread;
    _Atomic pid_t crashed; /* the thread whose crash is reported; 0: none */
    sem_t ready;           /* the report is */
    atomic_int delivered;  /* 1: somebody has it; -1: nobody wants it */
    atomic_bool dump;
    struct crash_text text;
} crash;

/* ---- Programs that come and go ------------------------------------------------------------------ */

/* What the faulting code is, where the position in the program does not say it: of a program that is being loaded, or
 * of one that is unloaded by now. Written by the program's thread, read in the handler. */

#define UNLOADED_MAX 8 /* programs that are remembered */

static struct {
    _Atomic(const char *) doing; /* NULL: no program is being loaded */
    const char *path;
    atomic_bool second;
} loading;

/* A ring: a thread that the last program left crashes soon, or has done so. */
static struct {
    _Atomic uintptr_t begin, end;
    char path[512];
} unloaded[UNLOADED_MAX];

/* Adds "while the program was loaded, in get_program of FILE: " or the like. False: none is. */
static bool code_add_loading(struct crash_text *text)
{
    const char *doing = atomic_load(&loading.doing);
    if (!doing)
        return false;
    text_add(text, "while the program was loaded, ");
    text_add(text, doing);
    text_add(text, " ");
    text_add(text, loading.path);
    text_add(text, ": ");
    return true;
}

/* The file of the program that was at that address, if there was one; else NULL. */
static const char *code_unloaded(uintptr_t address)
{
    for (int i = 0; i < UNLOADED_MAX; i++)
        if (address >= atomic_load(&unloaded[i].begin) && address < atomic_load(&unloaded[i].end))
            return unloaded[i].path;
    return NULL;
}

/* Before the job can settle on one report: is another process of the launch the first to print its own? */
static bool code_comes_second(void)
{
    return atomic_load(&loading.doing) && atomic_load(&loading.second);
}

/* ---- The report --------------------------------------------------------------------------------- */

static void add_element(struct crash_text *text, const epop_program_t *program, int pc)
{
    const epop_element_t *element = &program->elements[pc];
    const char *type = epop_element_type_name(element->type);
    text_add(text, "element ");
    text_add_number(text, pc);
    text_add(text, " '");
    text_add(text, element->name ? element->name : type);
    text_add(text, "' (");
    text_add(text, type);
    text_add(text, "), iteration ");
    text_add_number(text, atomic_load(&crash.live->iteration));
}

static void add_process(struct crash_text *text)
{
    text_add(text, "process ");
    text_add_number(text, crash.process);
    text_add(text, ", ");
}

static void add_unloaded(struct crash_text *text, const char *path)
{
    if (crash.live)
        add_process(text);
    text_add(text, "in code of ");
    text_add(text, path);
    text_add(text, ", which is unloaded, and of which a thread, timer or handler still runs: ");
}

/* A process that stands by has no position in the program, and no rank; neither has one that has not loaded it yet. */
static void add_idle(struct crash_text *text)
{
    if (crash.live)
        add_process(text);
    text_add(text, crash.live ? "while no program runs in it: " : "before a program runs: ");
}

/* A process of an executable runs its program also when it is in no world. */
static void add_rank(struct crash_text *text, int size)
{
    text_add(text, size > 0 ? ", rank " : ", process ");
    text_add_number(text, size > 0 ? atomic_load(&crash.live->rank) : crash.process);
    if (size > 0) {
        text_add(text, " of ");
        text_add_number(text, size);
    } else {
        text_add(text, size < 0 ? ", which has left the world" : ", which has not joined yet");
    }
}

/* "cannon: element 1 'multiply' (EP), iteration 3, rank 1 of 4: " */
static void add_position(struct crash_text *text, const epop_program_t *program)
{
    int pc = atomic_load(&crash.live->pc);
    text_add(text, program->name);
    text_add(text, ": ");
    if (pc >= 0 && pc < program->size)
        add_element(text, program, pc);
    else
        text_add(text, "outside of the program's elements");
    add_rank(text, atomic_load(&crash.live->size));
    text_add(text, ": ");
}

/* The address of an instruction, or of data, where nothing is mapped; 0: that is not the matter. */
static uintptr_t unmapped_address(const siginfo_t *info)
{
    return info->si_signo == SIGSEGV && info->si_code == SEGV_MAPERR ? (uintptr_t)info->si_addr : 0;
}

static void add_what(struct crash_text *text, const siginfo_t *info)
{
    const epop_program_t *program = crash.live ? atomic_load(&crash.live->program) : NULL;
    const char *unloaded = code_unloaded(unmapped_address(info));
    if (unloaded)
        add_unloaded(text, unloaded);
    else if (code_add_loading(text))
        return;
    else if (program)
        add_position(text, program);
    else
        add_idle(text);
}

static bool is_overflow(const siginfo_t *info, const void *context)
{
    uintptr_t stack = trace_stack_pointer(context), address = (uintptr_t)info->si_addr;
    return info->si_signo == SIGSEGV && stack && address - (stack - 65536) < 65536 + 4096;
}

static void add_signal(struct crash_text *text, int number, const siginfo_t *info, const void *context)
{
    text_add(text, "SIG");
    text_add(text, sigabbrev_np(number));
    text_add(text, " (");
    text_add(text, is_overflow(info, context) ? "Stack overflow" : sigdescr_np(number));
    text_add(text, ")");
    if (info->si_code > 0 && number != SIGABRT) { /* the kernel's doing, and not that of kill or raise */
        text_add(text, number == SIGFPE || number == SIGILL ? " by the instruction at " : " at address ");
        text_add_address(text, (uintptr_t)info->si_addr);
    }
    text_add(text, syscall(SYS_gettid) == crash.program_thread ? ", pid " : ", in another thread, pid ");
    text_add_number(text, getpid());
    text_add(text, " on ");
    text_add(text, crash.host);
    text_add(text, "\n");
}

static void write_report(void)
{
    static struct crash_text all;
    text_add(&all, "epop: ");
    text_add(&all, crash.text.bytes);
    text_add(&all, "\n");
    if (write(STDERR_FILENO, all.bytes, all.used) < 0)
        return; /* nobody reads it */
}

/* In process 0, or without a job, what drivers have found by now is written; the reason is the report's first line. */
static void save_records(void)
{
    for (size_t i = 0; i < crash.text.used; i++)
        if (crash.text.bytes[i] == '\n')
            crash.text.bytes[i] = 0;
    epop__records_fail(crash.text.bytes);
}

/* ---- The end of the process --------------------------------------------------------------------- */

static void __attribute__((noreturn)) end_by(int number)
{
    sigset_t only;
    signal(number, SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, number);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    raise(number);
    ending_quit(128 + number);
}

static void nap_10_ms(void)
{
    struct timespec ten_ms = {.tv_nsec = 10 * 1000 * 1000};
    nanosleep(&ten_ms, NULL);
}

static int wait_delivered(void)
{
    for (int ms = 0; ms < DELIVER_MS && !atomic_load(&crash.delivered); ms += 10)
        nap_10_ms();
    return atomic_load(&crash.delivered);
}

static bool wants_core(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur > 0;
}

/* The others print the report and end this process; if not, it does so itself. */
static void hand_over_report(int number)
{
    if (crash.deliver)
        sem_post(&crash.ready);
    if (crash.deliver && wait_delivered() > 0)
        for (int ms = 0; ms < ENDED_MS; ms += 10) {
            if (atomic_load(&crash.dump))
                end_by(number);
            nap_10_ms();
        }
    if (code_comes_second())
        for (int ms = 0; ms < FIRST_MS; ms += 10)
            nap_10_ms();
    write_report();
    save_records();
    end_by(number);
}

/* ---- The handler -------------------------------------------------------------------------------- */

static void on_crash(int number, siginfo_t *info, void *context)
{
    pid_t self = (pid_t)syscall(SYS_gettid), none = 0;
    if (!atomic_compare_exchange_strong(&crash.crashed, &none, self)) {
        if (none != self)
            for (;;)
                pause(); /* another thread is at it */
        trace_give_up();
        end_by(number);
    }
    add_what(&crash.text, info);
    add_signal(&crash.text, number, info, context);
    trace_add(&crash.text, context);
    text_end_line(&crash.text);
    hand_over_report(number);
}

static void *deliver_main(void *unused)
{
    while (sem_wait(&crash.ready) != 0)
        ;
    atomic_store(&crash.delivered, crash.deliver(crash.text.bytes, wants_core()) == 0 ? 1 : -1);
    return unused;
}

void crash_dump(void)
{
    atomic_store(&crash.dump, true);
}

/* ---- Installing --------------------------------------------------------------------------------- */

/* UCX, which Debian's MPICH uses, has handlers of its own that print a trace on each rank and end the process. */
static void silence_ucx(void)
{
    void (*disable)(void);
    *(void **)&disable = dlsym(RTLD_DEFAULT, "ucs_debug_disable_signals");
    if (disable)
        disable();
}

static bool is_default(const struct sigaction *action)
{
    return action->sa_handler == SIG_DFL;
}

static bool is_fortrans(const struct sigaction *action)
{
    Dl_info where;
    void *address;
    memcpy(&address, &action->sa_handler, sizeof address);
    return !is_default(action) && action->sa_handler != SIG_IGN && dladdr(address, &where) && where.dli_fname &&
           strstr(where.dli_fname, "libgfortran");
}

/* For each signal whose handler may be replaced. */
static void replace_handlers(bool (*may)(const struct sigaction *present))
{
    struct sigaction present, ours = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&ours.sa_mask);
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        if (sigaction(signals[i], NULL, &present) == 0 && may(&present))
            sigaction(signals[i], &ours, NULL);
}

void crash_insist(void)
{
    replace_handlers(is_fortrans);
}

/* The handlers alone, before there is a job: the process prints its own report. Local. */
static void crash_prepare(void)
{
    crash.program_thread = (pid_t)syscall(SYS_gettid);
    snprintf(crash.host, sizeof crash.host, "%s", host_own());
    trace_prepare();
    epop__crash_stack();
    silence_ucx();
    replace_handlers(is_default);
}

void crash_install(const struct live_position *live, int process, crash_deliver_fn deliver)
{
    crash.process = process;
    sem_init(&crash.ready, 0, 0);
    crash.deliver = deliver && thread_start(NULL, deliver_main, NULL) == 0 ? deliver : NULL;
    crash.live = live;
    crash_prepare();
}

/* ---- Programs that come and go: told by who loads them ------------------------------------------ */

void epop__crash_loading(const char *doing, const char *path, bool first)
{
    static bool prepared;
    if (!prepared)
        crash_prepare();
    prepared = true;
    loading.path = path;
    atomic_store(&loading.second, !first);
    atomic_store(&loading.doing, doing);
}

void epop__crash_loaded(void)
{
    atomic_store(&loading.doing, NULL);
}

void epop__crash_unloading(uintptr_t begin, uintptr_t end, const char *path)
{
    static unsigned count;
    unsigned slot = count++ % UNLOADED_MAX;
    atomic_store(&unloaded[slot].end, 0);
    snprintf(unloaded[slot].path, sizeof unloaded[slot].path, "%s", path);
    atomic_store(&unloaded[slot].begin, begin);
    atomic_store(&unloaded[slot].end, end);
}

void epop__crash_still_loaded(uintptr_t begin)
{
    for (int i = 0; i < UNLOADED_MAX; i++)
        if (atomic_load(&unloaded[i].begin) == begin)
            atomic_store(&unloaded[i].end, 0);
}
