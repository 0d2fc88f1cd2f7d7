/*
 * step ... HOST COMMAND...: in a Slurm job Hydra's -launcher-exec for joining processes: becomes the srun that starts
 * COMMAND, Hydra's proxy, on HOST, and ends with the mpiexec that started it. EPOP_STEP says which job the host is in:
 * "OWN HOST=JOB,...", where a job "+" is one to be made, a companion.
 * step --leash JOB COMMAND...: what srun starts there: see leash below.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define VARIABLE   "EPOP_STEP"       /* from epop to this helper, not for users */
#define JOB        "EPOP_SLURM_JOB"  /* from this helper to the processes: the job that they are in */
#define FIRST      "EPOP_STEP_FIRST" /* likewise: these are no joining processes, so SIGTERM ends them as elsewhere */
#define NOT_FOUND  127
#define WORDS_MAX  512
#define CONNECT_MS 2000 /* srun listens, or does not */

extern char **environ;

/* ---- On the host of mpiexec: srun --------------------------------------------------------- */

struct words {
    char *word[WORDS_MAX];
    int count;
};

static void add(struct words *words, const char *word)
{
    if (words->count < WORDS_MAX - 1)
        words->word[words->count++] = (char *)word;
}

static void add_all(struct words *words, const char *const *all)
{
    while (*all)
        add(words, *all++);
}

/* What the first job's Slurm, or its user, set would be taken for options of this step. */
static void forget_first_job(void)
{
    char name[128];
    for (char **entry = environ; *entry;) {
        size_t length = strcspn(*entry, "=");
        bool slurms = !strncmp(*entry, "SLURM_", 6) || !strncmp(*entry, "SRUN_", 5);
        if (slurms && strncmp(*entry, "SLURM_CONF=", 11) && length < sizeof name) {
            snprintf(name, sizeof name, "%.*s", (int)length, *entry);
            unsetenv(name); /* shifts the rest down */
        } else {
            entry++;
        }
    }
}

/* The job of the host in "OWN HOST=JOB,...": copied into job. */
static bool find_job(const char *hosts, const char *host, char *job, size_t size)
{
    size_t length = strlen(host);
    for (const char *at = strchr(hosts, ' '); at; at = strchr(at + 1, ','))
        if (!strncmp(at + 1, host, length) && at[1 + length] == '=') {
            at += length + 2;
            snprintf(job, size, "%.*s", (int)strcspn(at, ","), at);
            return true;
        }
    return false;
}

/* A step without -c, or one with --exclusive, has one core for each task. */
static void find_cores(const char *host, char *cores, size_t size)
{
    int ends[2];
    snprintf(cores, size, "1");
    if (pipe(ends))
        return;
    pid_t child = fork();
    if (!child) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execlp("sinfo", "sinfo", "-h", "-n", host, "-o", "%c", (char *)NULL);
        _exit(NOT_FOUND);
    }
    close(ends[1]);
    FILE *out = fdopen(ends[0], "r");
    cores[0] = 0;
    if (out && fgets(cores, (int)size, out))
        cores[strspn(cores, "0123456789")] = 0;
    if (out)
        fclose(out);
    if (child > 0)
        waitpid(child, NULL, 0);
    if (!cores[0])
        snprintf(cores, size, "1");
}

static void add_companion(struct words *words, const char *own, const char *host)
{
    static char name[64], comment[64], cores[16];
    find_cores(host, cores, sizeof cores);
    snprintf(name, sizeof name, "epop-%s", own);
    snprintf(comment, sizeof comment, "epop companion of %s", own);
    add_all(words,
            (const char *const[]){"--exclusive", "--immediate=2", "-c", cores, "-J", name, "--comment", comment, NULL});
    const char *more = getenv("EPOP_COMPANION"); /* from users: more options, with blanks between them */
    char *copy = more ? strdup(more) : NULL, *rest = NULL;
    for (char *word = copy ? strtok_r(copy, " \t\n", &rest) : NULL; word; word = strtok_r(NULL, " \t\n", &rest))
        add(words, word);
}

static void add_step(struct words *words, const char *job)
{
    static char option[64];
    snprintf(option, sizeof option, "--jobid=%s", job);
    add_all(words, (const char *const[]){option, "--overlap", NULL});
}

/* Hydra quotes the proxy's path for the shell that ssh would give it to. */
static char *unquoted(char *word)
{
    size_t length = strlen(word);
    if (length < 2 || word[0] != '"' || word[length - 1] != '"')
        return word;
    word[length - 1] = 0;
    return word + 1;
}

static int start(char *self, const char *host, const char *job, char **command)
{
    static const char *const common[] = {
        "--cpu-bind=none", "--mpi=none", "--input=none", "--export=ALL", "--quiet", "-N1", "-n1", "-w", NULL};
    struct words words = {0};
    char own[32] = "";
    bool companion = !strcmp(job, "+");
    sscanf(getenv(VARIABLE), "%31s", own);
    forget_first_job();
    add(&words, "srun");
    if (companion)
        add_companion(&words, own, host);
    else
        add_step(&words, job);
    add_all(&words, common);
    add(&words, host);
    if (!getenv(FIRST))
        add_all(&words, (const char *const[]){self, "--leash", companion ? "own" : "other", NULL});
    while (*command)
        add(&words, unquoted(*command++));
    execvp("srun", words.word);
    fprintf(stderr, "epop: cannot start 'srun': %s\n", strerror(errno));
    return NOT_FOUND;
}

/* Hydra's own options, as -x, stand before the host. */
static int reach(int argc, char **argv, pid_t parent)
{
    const char *hosts = getenv(VARIABLE);
    char job[32], self[4096] = "";
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* srun gives its place in the queue, or its allocation, back */
    if (getppid() != parent)
        return NOT_FOUND; /* it ended before, so nobody waits */
    if (readlink("/proc/self/exe", self, sizeof self - 1) > 0)
        for (int i = 1; hosts && i < argc - 1; i++)
            if (find_job(hosts, argv[i], job, sizeof job))
                return start(self, argv[i], job, argv + i + 1);
    fprintf(stderr, "usage: " VARIABLE "='JOB HOST=JOB,...' step HOST COMMAND... (epop has mpiexec start it)\n");
    return NOT_FOUND;
}

/* ---- On the node: the leash --------------------------------------------------------------- */

/*
 * Slurm sends SIGTERM to all processes of a step when it wants the node back (preemption, scancel, time limit), and
 * SIGKILL some time later. The ranks then leave the job; the proxy, which would end them at once, does not get to see
 * it. And a companion's allocation lives as long as its srun; one that is killed leaves it behind, with nobody to
 * end it but this.
 */
static bool srun_listens(void)
{
    const char *host = getenv("SLURM_LAUNCH_NODE_IPADDR"), *port = getenv("SLURM_STEP_LAUNCHER_PORT");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port ? port : "0"))};
    int error = 0, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof error;
    if (fd < 0 || !host || !port || inet_pton(AF_INET, host, &address.sin_addr) != 1)
        return true; /* not known: Slurm's affair */
    struct pollfd connected = {.fd = fd, .events = POLLOUT};
    if (connect(fd, (struct sockaddr *)&address, sizeof address) && errno == EINPROGRESS)
        error = poll(&connected, 1, CONNECT_MS) == 1 ? getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) || error : 1;
    else if (errno == ECONNREFUSED)
        error = 1;
    close(fd);
    return !error;
}

static void nothing(int number)
{
    (void)number;
}

static int leash(bool own, char **command)
{
    const char *job = getenv("SLURM_JOB_ID");
    struct sigaction action = {.sa_handler = nothing, .sa_flags = SA_RESTART};
    int status = 0;
    if (job)
        setenv(JOB, job, 1);
    sigaction(SIGTERM, &action, NULL);
    pid_t child = fork();
    if (!child) {
        signal(SIGTERM, SIG_IGN); /* the proxy keeps that; a joining process takes it back */
        execv(command[0], command);
        fprintf(stderr, "epop: cannot start '%s': %s\n", command[0], strerror(errno));
        _exit(NOT_FOUND);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (own && job && !srun_listens())
        execlp("scancel", "scancel", "--quiet", job, (char *)NULL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    pid_t parent = getppid();
    if (argc > 3 && !strcmp(argv[1], "--leash"))
        return leash(!strcmp(argv[2], "own"), argv + 3);
    return reach(argc, argv, parent);
}
