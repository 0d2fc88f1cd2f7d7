/* epoprm: rules jobs on a list of hosts, or advises those of Slurm. Its commands, and their options. */
#include "scheduler/epoprm/command.h"

/* ---- Their options ------------------------------------------------------------------------------ */

#define JSON(what) "json", NULL, what, OPT_FLAG(json)

static const struct option_row start_options[] = {
    {"hosts", "LIST", "the nodes: n1:4,n2:4; a host with more slots is several (1 slot)", OPT_TEXT(hosts)},
    {"local", "N", "N nodes of one slot each on this machine (its cores)", OPT_TEXT(local)},
    {"site", "hosts|slurm", "rule hosts, or advise the jobs of a Slurm cluster (hosts)", OPT_TEXT(site)},
    {"policy", "POLICY", "what decides: a name that epopsim --list-policies shows, ./MINE.py or ./MINE.so",
     OPT_TEXT(policy)},
    {"launcher", "NAME", "how mpiexec starts processes on other hosts: ssh, slurm, ... (its own choice)",
     OPT_TEXT(launcher)},
    {"launcher-exec", "PROGRAM", "by this program", OPT_TEXT(launcher_exec)},
    {"topology", "FILE|none", "the switches that nodes are below, as in Slurm's topology.conf (none)",
     OPT_TEXT(topology)},
    {"spread-cost", "SHARE",
     "by which an iteration is taken to last longer for each leaf switch above the\nfewest possible, as 0.05: policies "
     "may move jobs then (0)",
     OPT_TEXT(spread_cost)},
    {"speeds", "NODE=SPEED,...|none", "nodes that compute faster or slower, as n3=0.5,n[4-6]=2 (1)", OPT_TEXT(speeds)},
    {"shares", "ACCOUNT=SHARE,...|FILE|none",
     "share of the nodes that each account is to have, as alice=2,bob=1; all others:\n*=1. Jobs of the one that has "
     "used least over its share come first (none)",
     OPT_TEXT(shares)},
    {"half-life", "TIME", "in which half of what an account has used is forgotten: 12h, 7d; 0: nothing is (7d)",
     OPT_TEXT(half_life)},
    {"watts", "IDLE,BUSY[,NODE=IDLE:BUSY...]", "of each node, as 90,310 or 90,310,n3=120:400", OPT_TEXT(watts)},
    {"power-cap", "WATTS", "of all nodes: no start or growth takes more (0: none)", OPT_TEXT(power_cap)},
    {"energy", "watts|rapl", "of jobs: by these watts, or by the processors' counters on this machine (watts)",
     OPT_TEXT(energy)},
    {"suspend", "COMMAND", "what switches an idle node off; its host's name comes behind", OPT_TEXT(suspend)},
    {"resume", "COMMAND", "what switches it on again when jobs wait", OPT_TEXT(resume)},
    {"suspend-after", "TIME", "how long it has to be idle: 600, 10m, 1h (0: none is switched off)",
     OPT_TEXT(suspend_after)},
    {"preempt-after", "TIME",
     "how long the first of the queue waits before jobs with a lower priority are saved,\nand wait instead: 60, 10m "
     "(0: none is)",
     OPT_TEXT(preempt_after)},
    {"port", "N", "slurm: where jobs find it (that of the last time, or any)", OPT_TEXT(port)},
    {"address-file", "FILE",
     "slurm: which file tells jobs so (adviser, where address files are; of root\n/etc/epop/adviser)",
     OPT_TEXT(address_file)},
    {"reader", "libslurm|squeue", "slurm: by what to read the queue (libslurm, where its module is)", OPT_TEXT(reader)},
    {"foreground", NULL, "stay in the foreground; the log goes to the terminal", OPT_FLAG(foreground)},
    {0}};
static const struct option_row submit_options[] = {
    {"ranks", "N|MIN-MAX", "the ranks that it may have (1)", OPT_TEXT(ranks)},
    {"nodes", "N|MIN-MAX", "the nodes that it may have (as many as the ranks need)", OPT_TEXT(nodes)},
    {"sizes", "RULE",
     "numbers of ranks that it accepts, as power-of-two, multiple:3 or 2,4,8 (any);\n,preferred=N: begin with so many; "
     ",weak: more do more work in an iteration",
     OPT_TEXT(sizes)},
    {"time", "TIME", "it takes no longer: 90, 90s, 10m, 2h, 1d (as the daemon has it)", OPT_TEXT(time)},
    {"name", "NAME", "what it is called (the program's name)", OPT_TEXT(name)},
    {"output", "FILE", "where its output goes (a file in the daemon's directory)", OPT_TEXT(output), .letter = 'o'},
    {"after", "JOB,...", "start when these jobs have ended well; if one does not, it is cancelled", OPT_TEXT(after)},
    {"priority", "N", "its place in the queue: those with a higher one come first (0)", OPT_TEXT(priority)},
    {"account", "NAME", "what it is counted for, where there are shares (its user)", OPT_TEXT(account)},
    {"deadline", "TIME",
     "when it is wanted to have ended: 18:30, 2026-12-24T18:30, +90m or now+2hours;\nthose that have to start for "
     "theirs "
     "come first in the queue (none)",
     OPT_TEXT(deadline)},
    {"drop-late", NULL, "give it up when it cannot end before its deadline any more, and end it then",
     OPT_FLAG(drop_late), .goes_with = "deadline"},
    {"hold", NULL, "keep it out of the queue until epoprm release JOB", OPT_FLAG(hold)},
    {"once", NULL, "start PROGRAM as it is, once, on the first of its nodes", OPT_FLAG(once)},
    {JSON("print JSON")},
    {0}};
static const struct option_row queue_options[] = {
    {"all", NULL, "those that have ended, too; also where no daemon runs", OPT_FLAG(all)}, {JSON("print JSON")}, {0}};
static const struct option_row json_options[] = {{JSON("print JSON")}, {0}};
static const struct option_row no_options[] = {{0}};
static const struct option_row requeue_options[] = {
    {"hold", NULL, "and keep them there until epoprm release JOB", OPT_FLAG(hold)}, {0}};
static const struct option_row change_options[] = {
    {"priority", "N", "those with a higher one come first in the queue", OPT_TEXT(priority)},
    {"account", "NAME", "what they are counted for, where there are shares; of jobs that wait", OPT_TEXT(account)},
    {"deadline", "TIME", "when they are wanted to have ended, as with submit; none: no longer", OPT_TEXT(deadline)},
    {"drop-late", NULL, "give them up when they cannot end before it any more, and end them then", OPT_FLAG(drop_late),
     .goes_with = "deadline"},
    {0}};
static const struct option_row drain_options[] = {{"undo", NULL, "use it again", OPT_FLAG(undo)}, {0}};
static const struct option_row watch_options[] = {{JSON("print one JSON object a line")}, {0}};
static const struct option_row report_options[] = {
    {"output", "FILE", "where to; - is the standard output", OPT_TEXT(output), .letter = 'o'},
    {"format", "html|json", "a page, by epop-report, or the record that it is made of (html)", OPT_TEXT(format)},
    {0}};
static const struct option_row stop_options[] = {
    {"jobs", NULL, "and all jobs", OPT_FLAG(jobs)},
    {"leave", NULL, "jobs run on; the next epoprm start finds them", OPT_FLAG(leave)},
    {0}};

/* ---- The commands ------------------------------------------------------------------------------- */

static const struct command rows[] = {
    {"start", "[--hosts HOST[:SLOTS],... | --local N] [--policy NAME[,OPTION=VALUE...]] [OPTIONS]",
     "begin to rule nodes, in the background", .options = start_options, .run = rm_start,
     .notes = "Without --hosts and --local: the nodes that it had before, with the jobs that run there still.\n"},
    {"submit",
     "[--ranks N|MIN-MAX] [--nodes N|MIN-MAX] [--sizes RULE] [--time TIME] [OPTIONS] -- PROGRAM [ARGUMENTS...]",
     "put a job into the queue; its number is printed", .options = submit_options, .least = 1, .most = -1,
     .run = rm_submit,
     .notes = "PROGRAM is an EPOP program (.so), or any MPI program. One size is rigid; a range is resized where the "
              "program can be.\n"},
    {"queue", "[--all] [--json]", "show the jobs that wait and run", .options = queue_options, .run = rm_queue},
    {"nodes", "[--json]", "show the nodes, and which job is there", .options = json_options, .run = rm_nodes},
    {"why", "JOB [--json]", "show what was decided on a job, and why", .options = json_options, .least = 1, .most = 1,
     .run = rm_why, .notes = "Also of jobs that have ended, and where no daemon runs.\n"},
    {"cancel", "JOB...", "end jobs, or take them out of the queue", .options = no_options, .least = 1, .most = 1000,
     .run = rm_cancel},
    {"hold", "JOB...", "keep jobs that wait out of the queue", .options = no_options, .least = 1, .most = 1000,
     .run = rm_hold},
    {"release", "JOB...", "let jobs that are held into the queue again, at its end", .options = no_options, .least = 1,
     .most = 1000, .run = rm_release},
    {"requeue", "[--hold] JOB...", "save jobs that run, and put them back into the queue", .options = requeue_options,
     .least = 1, .most = 1000, .run = rm_requeue,
     .notes = "They go on from there when their turn comes. For EPOP programs that describe their data.\n"},
    {"change", "[--priority N] [--account NAME] [--deadline TIME [--drop-late]] JOB...",
     "give jobs another priority, account or deadline", .options = change_options, .least = 1, .most = 1000,
     .run = rm_change},
    {"drain", "NODE [--undo]", "give no more work to a node; its jobs leave it where they can",
     .options = drain_options, .least = 1, .most = 1, .run = rm_drain},
    {"watch", "[--json]", "print what happens, as it happens", .options = watch_options, .run = rm_watch},
    {"report", "-o FILE [--format html|json]", "write what has happened: Gantt chart, queue, utilisation, decisions",
     .options = report_options, .run = rm_report},
    {"stop", "[--jobs | --leave]", "end the daemon", .options = stop_options, .run = rm_stop,
     .notes = "Without either it is refused while jobs run or wait.\n"},
    {0},
};

static int take_words(const struct command *command, struct options *options, int count, char **words,
                      struct error *error)
{
    (void)command;
    (void)error;
    options->words = words;
    options->count = count;
    return 0;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    const struct commands commands = {
        .program = "epoprm",
        .usage = "[OPTIONS]",
        .purpose = "Rules jobs on a list of hosts, or on this machine: starts them, and resizes those that can be.",
        .statuses = "Exit status: 0 done, 1 refused, 2 wrong usage, 3 no such job or daemon, 4 timed out.\n",
        .rows = rows,
        .take = take_words,
        .options = &options,
    };
    return commands_main(&commands, argc, argv);
}
