/* Watts of nodes, the processors' counters below /sys/class/powercap, and the energy of jobs. */
#include "scheduler/hosts/power.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/host.h"
#include "scheduler/hosts/state.h"

/* ---- What the daemon was told ------------------------------------------------------------------- */

static const double most_watts = 1e9;

/* Two numbers with that between them, and nothing behind; the first is not larger. */
static bool read_pair(const char *text, char between, struct power_watts *watts)
{
    char *end;
    watts->idle = strtod(text, &end);
    if (end == text || *end != between)
        return false;
    text = end + 1;
    watts->busy = strtod(text, &end);
    return end != text && !*end && watts->idle >= 0 && watts->busy >= watts->idle && watts->busy > 0 &&
           watts->busy <= most_watts;
}

/* What comes behind the first two numbers, which end there; NULL: nothing. */
static char *split_off(char *text)
{
    char *comma = strchr(text, ','), *second = comma ? strchr(comma + 1, ',') : NULL;
    if (second)
        *second = '\0';
    return second ? second + 1 : NULL;
}

/* Of one node: "n3=120:400". */
static bool read_own(char *entry, const char *node, struct power_watts *watts)
{
    struct power_watts own;
    char *equals = strchr(entry, '=');
    if (!equals || equals == entry || !read_pair(equals + 1, ':', &own))
        return false;
    *equals = '\0';
    if (node && !strcmp(node, entry))
        *watts = own;
    return true;
}

int power_watts(const char *text, const char *node, struct power_watts *watts, struct error *error)
{
    char *copy = text ? strdup(text) : NULL, *rest = copy ? split_off(copy) : NULL;
    *watts = (struct power_watts){0};
    if (!text || !copy)
        return text ? error_memory(error) : 0;
    bool right = read_pair(copy, ',', watts);
    for (char *entry; right && (entry = strsep(&rest, ","));)
        right = read_own(entry, node, watts);
    free(copy);
    if (right)
        return 0;
    return error_set(error, ERROR_REFUSED,
                     "--watts: '%.100s': give the watts of an idle and of a busy node as 90,310, and of one that draws "
                     "something else as 90,310,n3=120:400",
                     text);
}

/* ---- What the processors count ------------------------------------------------------------------ */

enum { METERS_MAX = 64 };

/* Microjoules of each processor of this machine, which begin anew behind their most. */
struct power_meter {
    char *paths[METERS_MAX];
    double last[METERS_MAX], most[METERS_MAX];
    int count;
};

static bool read_amount(const char *directory, const char *name, double *amount)
{
    char path[1200];
    snprintf(path, sizeof path, "%.1000s/%s", directory, name);
    FILE *file = fopen(path, "re");
    bool read = file && fscanf(file, "%lf", amount) == 1;
    if (file)
        fclose(file);
    return read;
}

/* A processor is intel-rapl:0, also of AMD's; intel-rapl:0:0 is a part of it. */
static void add_meter(struct power_meter *meter, const char *root, const char *name)
{
    int number, used = 0, i = meter->count;
    char *path;
    if (i == METERS_MAX || sscanf(name, "intel-rapl:%d%n", &number, &used) != 1 || name[used] ||
        asprintf(&path, "%s/%s", root, name) < 0)
        return;
    if (read_amount(path, "energy_uj", &meter->last[i]) && read_amount(path, "max_energy_range_uj", &meter->most[i]))
        meter->paths[meter->count++] = path;
    else
        free(path);
}

static void close_meter(struct power_meter *meter)
{
    for (int i = 0; meter && i < meter->count; i++)
        free(meter->paths[i]);
    free(meter);
}

/* NULL: none of them can be read. */
static struct power_meter *open_meter(struct error *error)
{
    const char *root = getenv("EPOP_POWERCAP");
    root = root && *root ? root : "/sys/class/powercap";
    struct power_meter *meter = calloc(1, sizeof *meter);
    DIR *directory = meter ? opendir(root) : NULL;
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        add_meter(meter, root, entry->d_name);
    if (directory)
        closedir(directory);
    if (meter && meter->count)
        return meter;
    close_meter(meter);
    error_set(error, ERROR_REFUSED,
              "--energy rapl: no processor's counter (intel-rapl:N/energy_uj) can be read below %.900s; on most "
              "machines only "
              "root can",
              root);
    return NULL;
}

/* Joules since the last call. */
static double read_meter(struct power_meter *meter)
{
    double joules = 0, now;
    for (int i = 0; i < meter->count; i++) {
        if (!read_amount(meter->paths[i], "energy_uj", &now))
            continue;
        joules += (now >= meter->last[i] ? now - meter->last[i] : meter->most[i] - meter->last[i] + now) / 1e6;
        meter->last[i] = now;
    }
    return joules;
}

/* ---- The beginning ------------------------------------------------------------------------------ */

static int set_watts(struct hosts *hosts, struct error *error)
{
    const struct hosts_options *options = hosts->options;
    for (int i = 0; i < hosts->node_count; i++) {
        struct hosts_node *node = &hosts->nodes[i];
        struct power_watts watts;
        if (power_watts(options->watts, hosts_node_called(hosts, i), &watts, error))
            return -1;
        node->idle_watts = watts.idle / node->parts;
        node->busy_watts = watts.busy / node->parts;
        core_set_watts(hosts->core, i, node->idle_watts, node->busy_watts);
    }
    return 0;
}

static int check_cap(const struct hosts *hosts, struct error *error)
{
    double idle = 0, cap = hosts->options->power_cap;
    for (int i = 0; i < hosts->node_count; i++)
        idle += hosts->nodes[i].idle_watts;
    if (cap > 0 && !hosts->options->watts)
        return error_set(error, ERROR_REFUSED, "--power-cap %g: the watts of a node are not known: give --watts", cap);
    if (cap > 0 && hosts_power_nodes(hosts) < 1)
        return error_set(error, ERROR_REFUSED,
                         "--power-cap %g: %d idle nodes draw %g W already, and none could be busy", cap,
                         hosts->node_count, idle);
    return 0;
}

int hosts_power_begin(struct hosts *hosts, struct error *error)
{
    hosts->power_at = hosts_now(hosts);
    if (set_watts(hosts, error) || check_cap(hosts, error))
        return -1;
    const char *by = hosts->options->energy;
    if (!by || !strcmp(by, "watts"))
        return 0;
    hosts->meter = open_meter(error);
    return hosts->meter ? 0 : -1;
}

void hosts_power_end(struct hosts *hosts)
{
    close_meter(hosts->meter);
    hosts->meter = NULL;
}

int hosts_power_nodes(const struct hosts *hosts)
{
    double idle = 0, most = 0, cap = hosts->options->power_cap;
    for (int i = 0; i < hosts->node_count; i++) {
        idle += hosts->nodes[i].idle_watts;
        most = fmax(most, hosts->nodes[i].busy_watts - hosts->nodes[i].idle_watts);
    }
    if (cap <= 0 || most <= 0)
        return hosts->node_count;
    return (int)fmax(0, fmin(hosts->node_count, floor((cap - idle) / most + 1e-9)));
}

double hosts_power_draw(const struct hosts_node *node)
{
    return !node->up ? 0 : node->job >= 0 ? node->busy_watts : node->idle_watts;
}

bool hosts_power_allows(const struct hosts *hosts, int node)
{
    double draws = hosts->nodes[node].idle_watts * hosts->nodes[node].parts, cap = hosts->options->power_cap;
    for (int i = 0; i < hosts->node_count; i++) {
        const struct hosts_node *other = &hosts->nodes[i];
        draws += other->power == HOSTS_WAKES ? other->idle_watts : hosts_power_draw(other);
    }
    return cap <= 0 || draws <= cap + 1e-9;
}

/* ---- What jobs use ------------------------------------------------------------------------------ */

static bool is_here(const struct hosts *hosts, const struct hosts_node *node)
{
    return hosts->local || !strcmp(node->host, host_own()) || (node->known && !strcmp(node->known, host_own()));
}

/* What a node used of that: a machine's energy is that of all its nodes alike. */
static double share_here(const struct hosts *hosts, double joules)
{
    int here = 0;
    for (int i = 0; i < hosts->node_count; i++)
        here += is_here(hosts, &hosts->nodes[i]);
    return here ? joules / here : 0;
}

void hosts_power_count(struct hosts *hosts)
{
    double now = hosts_now(hosts), passed = now - hosts->power_at;
    double here = hosts->meter ? share_here(hosts, read_meter(hosts->meter)) : 0;
    hosts->power_at = now;
    for (struct hosts_job *job = hosts->jobs; job; job = job->next)
        for (int i = 0; i < job->held; i++) {
            const struct hosts_node *node = &hosts->nodes[job->nodes[i]];
            job->joules += hosts->meter && is_here(hosts, node) ? here : node->busy_watts * passed;
        }
}

void hosts_power_keep(struct hosts_job *job)
{
    struct hosts *hosts = job->hosts;
    struct error error = {0};
    hosts_power_count(hosts);
    if (job->held && (hosts->options->watts || hosts->meter))
        hosts_must(hosts, journal_energy_set(hosts->journal, job->number, job->joules, hosts->power_at, &error),
                   &error);
}

/* What it used while no daemon looked is known by the watts alone. */
void hosts_power_take(struct hosts_job *job, double joules, double since)
{
    job->joules = joules;
    for (int i = 0; i < job->held; i++)
        job->joules += job->hosts->nodes[job->nodes[i]].busy_watts * fmax(0, job->hosts->power_at - since);
}
