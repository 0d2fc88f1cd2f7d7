/* epopctl resize +N --companions: N one-node Slurm jobs that lend their nodes wait in the queue from then on. It is
 * lib/epop/companion that submits them, from here: the job hears of each when Slurm has started it. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "epopctl/client.h"
#include "epopctl/command.h"
#include "epopctl/output.h"
#include "runtime/base/helper.h"
#include "runtime/base/json.h"
#include "runtime/base/spawn.h"
#include "runtime/wire/messages.h"

#define MANY 10000

/* Each is to bring as many ranks as the job's first node has. */
static int ranks_per_node(const cJSON *status)
{
    const cJSON *processes = cJSON_GetObjectItemCaseSensitive(status, "processes"), *one;
    const char *host = "";
    int ranks = 0;
    cJSON_ArrayForEach(one, processes) if (json_number(one, "rank", -1) == 0) host = term_text(one, "host", "");
    cJSON_ArrayForEach(one, processes) ranks +=
        json_number(one, "rank", -1) >= 0 && !strcmp(term_text(one, "host", ""), host);
    return ranks > 0 ? ranks : 1;
}

static int submit(const char *job, const char *count, int ranks, const char *of)
{
    char helper[PATH_MAX], each[16];
    int status = 0;
    pid_t pid;
    snprintf(each, sizeof each, "%d", ranks);
    const struct spawn what = {.argv = (char *[]){helper, "queue", (char *)job, (char *)count, each, (char *)of, NULL},
                               .in = SPAWN_NOTHING,
                               .out = STDOUT_FILENO,
                               .err = STDERR_FILENO};
    if (tree_path("lib/epop/companion", helper, sizeof helper) || spawn_program(&what, &pid)) {
        ctl_complain("resize: lib/epop/companion cannot be started");
        return CTL_REFUSED;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? CTL_DONE : CTL_REFUSED;
}

int ctl_queue_companions(const struct ctl_arguments *arguments)
{
    struct control_job job;
    long count = arguments->size && arguments->size[0] == '+' ? strtol(arguments->size + 1, NULL, 10) : 0;
    int code = CTL_USAGE;
    if (count < 1 || count > MANY || arguments->hosts || arguments->release || arguments->release_ranks ||
        arguments->slurm_job || arguments->wait || arguments->json) {
        ctl_complain("resize: --companions goes with +N alone, the one-node jobs to be queued");
        return code;
    }
    if ((code = ctl_job_select(arguments->job, &job)) != CTL_DONE)
        return code;
    if (strncmp(job.batch, "slurm:", 6)) {
        ctl_complain("resize: %s is not in Slurm, so it has no companions", job.id);
        return CTL_REFUSED;
    }
    cJSON *request = json_message(REQUEST(status));
    cJSON *status = ctl_ask_job(&job, request, arguments->timeout_ms, &code);
    cJSON_Delete(request);
    if (status)
        code = submit(job.id, arguments->size + 1, ranks_per_node(status), job.batch + 6);
    cJSON_Delete(status);
    return code;
}
