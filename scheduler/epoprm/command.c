/* What the commands of epoprm share: lines on stderr, texts, and where the daemon of this user has its state. */
#include "scheduler/epoprm/command.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/base/paths.h"
#include "scheduler/journal/journal.h"
#include "terminal/output.h"

/* ---- What they say, and how they read a number -------------------------------------------------- */

int rm_job_number(const char *text, int64_t *number)
{
    size_t length = strlen(text);
    *number = strtoll(text, NULL, 10);
    if (length && strspn(text, "0123456789") == length && length < 16 && *number > 0)
        return 0;
    term_complain("\"%s\" is no job's number (see epoprm queue)", text);
    return -1;
}

double rm_seconds(const char *text)
{
    char *end;
    double seconds;
    return decimal_read(text, &end) >= 1e9 || duration_read(text, &seconds) ? -1 : seconds;
}

/* ---- When something is to be -------------------------------------------------------------------- */

/* "2hours", "30", as Slurm has it behind "now+"; or as rm_seconds. */
static double ahead_of(const char *text)
{
    static const struct {
        const char *word;
        double seconds;
    } units[] = {{"second", 1}, {"minute", 60}, {"hour", 3600}, {"day", 86400}, {"week", 604800}};
    char *end;
    double count = decimal_read(text, &end);
    size_t length = strlen(end);
    for (size_t i = 0; end != text && i < sizeof units / sizeof *units; i++)
        if (!strncmp(end, units[i].word, strlen(units[i].word)) &&
            (length == strlen(units[i].word) || !strcmp(end + strlen(units[i].word), "s")))
            return count >= 0 && count < 1e9 ? count * units[i].seconds : -1;
    return rm_seconds(text);
}

/* All of it, by one of these forms; `when` is as it was before where none fits. */
static bool fits_form(const char *text, const char *const *forms, struct tm *when)
{
    for (; *forms; forms++) {
        struct tm read = *when;
        const char *end = strptime(text, *forms, &read);
        if (end && !*end) {
            *when = read;
            return true;
        }
    }
    return false;
}

double rm_time(const char *text, double now)
{
    static const char *const days[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", NULL};
    static const char *const hours[] = {"%H:%M", "%H:%M:%S", NULL};
    time_t today = (time_t)now;
    struct tm day = {.tm_isdst = -1}, hour;
    const char *ahead = !strncmp(text, "now+", 4) ? text + 4 : *text == '+' ? text + 1 : NULL;
    if (ahead || !strcmp(text, "now")) {
        double seconds = ahead ? ahead_of(ahead) : 0;
        return seconds < 0 ? -1 : now + seconds;
    }
    if (fits_form(text, days, &day))
        return (double)mktime(&day);
    localtime_r(&today, &hour);
    hour.tm_sec = 0;
    hour.tm_isdst = -1;
    if (!fits_form(text, hours, &hour))
        return -1;
    struct tm tomorrow = hour;
    tomorrow.tm_mday++;
    double then = (double)mktime(&hour);
    return then > now ? then : (double)mktime(&tomorrow);
}

/* ---- What an event says ------------------------------------------------------------------------- */

/* Sizes of a resize or a start, if it is about one. */
static void sizes_text(const cJSON *event, char *text, size_t size)
{
    int from = json_int(event, "from", 0), to = json_int(event, "to", 0);
    text[0] = '\0';
    if (from && to)
        snprintf(text, size, "%d -> %d nodes", from, to);
    else if (to)
        snprintf(text, size, "%d node%s", to, to == 1 ? "" : "s");
}

void rm_event_text(const cJSON *event, char *text, size_t size)
{
    const char *said = json_text(event, "text"), *nodes = json_text(event, "nodes");
    char sizes[64];
    sizes_text(event, sizes, sizeof sizes);
    snprintf(text, size, "%s%s%s%s%s%s", sizes, sizes[0] && nodes ? " (" : "", sizes[0] && nodes ? nodes : "",
             sizes[0] && nodes ? ")" : "", sizes[0] && said && *said ? ": " : "", said ? said : "");
}

void rm_clock(double seconds, char text[32])
{
    time_t when = (time_t)seconds, now = time(NULL);
    struct tm then, today;
    localtime_r(&when, &then);
    localtime_r(&now, &today);
    bool same = then.tm_year == today.tm_year && then.tm_yday == today.tm_yday;
    strftime(text, 32, same ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &then);
}

/* ---- Programs beside this one ------------------------------------------------------------------- */

static bool is_file(const char *path)
{
    struct stat status;
    return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, R_OK);
}

char *rm_beside(const char *name)
{
    char path[PATH_MAX];
    return !tree_path(name, path, sizeof path) && is_file(path) ? strdup(path) : NULL;
}

/* ---- The directory of the daemon ---------------------------------------------------------------- */

int rm_directory(char path[RM_PATH_MAX], struct error *error)
{
    const char *own = getenv("EPOPRM_DIR"), *home = getenv("HOME");
    size_t most = RM_PATH_MAX - 64; /* with room for the names of what is in it */
    if (own && *own) {
        if (own[0] != '/')
            return error_set(error, ERROR_REFUSED, "\"%.200s\" is no absolute path: set EPOPRM_DIR to one", own);
        if (strlen(own) < most)
            return strcpy(path, own), 0;
    } else if (!statedir_path(path, most, "epoprm")) {
        return 0;
    } else if (!home || home[0] != '/') {
        return error_set(error, ERROR_REFUSED,
                         "there is no HOME: set EPOPRM_DIR to a directory for the daemon's state");
    }
    return error_set(error, ERROR_REFUSED, "the path of the state directory is too long: set EPOPRM_DIR");
}

int rm_make_directory(const char *path, struct error *error)
{
    struct stat status;
    if (make_parents(path, 0700) || (mkdir(path, 0700) && errno != EEXIST) || stat(path, &status))
        return error_set(error, ERROR_FAILED, "%s: cannot be made: %s", path, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return error_set(error, ERROR_FAILED, "%s: is no directory", path);
    if (status.st_uid != geteuid() || status.st_mode & 022)
        return error_set(error, ERROR_FAILED, "%s: others may write there: chmod 700 it, or set EPOPRM_DIR", path);
    return 0;
}

int rm_file(char path[RM_PATH_MAX], const char *name, struct error *error)
{
    if (rm_directory(path, error))
        return -1;
    size_t used = strlen(path);
    snprintf(path + used, RM_PATH_MAX - used, "/%s", name);
    return 0;
}

int rm_journal(struct journal **journal, struct error *error)
{
    char path[RM_PATH_MAX];
    *journal = NULL;
    return rm_file(path, "journal.db", error) ? -1 : journal_open_reading(journal, path, error);
}
