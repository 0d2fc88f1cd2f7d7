/*
 * epop-report: a page, drawings or tables of a profile, a schedule or what else there is. What is in the files is read,
 * checked and summed up in C; what is shown and how is said in web/src.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/engine.h"
#include "report/options.h"
#include "report/subject.h"
#include "terminal/output.h"

/* ---- Writing ------------------------------------------------------------------------------------ */

static int make_folder(const char *path)
{
    struct stat status;
    if (mkdir(path, 0777) == 0)
        return 0;
    if (errno != EEXIST)
        return errno;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
}

/* ---- Making ------------------------------------------------------------------------------------- */

enum { DONE, FAILED, REFUSED };

#define ERROR_SIZE 400

static int say_failure(const char *what, const char *why)
{
    term_complain("%s: %s", what, why);
    return FAILED;
}

static int refuse_file(const char *path, const char *why)
{
    term_complain("%s %s", strcmp(path, "-") == 0 ? "the standard input" : path, why);
    return REFUSED;
}

static int write_text(const char *path, const char *text)
{
    int failed = term_write(path, text, "");
    return failed ? say_failure(strcmp(path, "-") == 0 ? "the standard output" : path, strerror(failed)) : DONE;
}

/* One drawing or table; into the folder if there is one. */
static int write_chart(struct engine *engine, const struct options *options, const char *json, const char *chart,
                       const char *folder)
{
    const char *kind = options->format == FORMAT_SVG ? "svg" : "csv";
    char error[ERROR_SIZE], *path = NULL;
    char *text = engine_call(engine, kind, json, chart, options->width, error, sizeof error);
    if (text == NULL)
        return say_failure(chart, error);
    int status = DONE;
    if (*text == '\0' && folder == NULL)
        status = say_failure(chart, "there is nothing to draw (--format csv gives its figures)");
    else if (*text != '\0' && folder != NULL && asprintf(&path, "%s/%s.%s", folder, chart, kind) < 0)
        status = say_failure(folder, "no memory");
    else if (*text != '\0')
        status = write_text(folder != NULL ? path : options->output, text);
    free(path);
    free(text);
    return status;
}

/* `names` has one a line. */
static int has_name(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = names; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (length > 0 && strncmp(line, name, length) == 0 && (line[length] == '\n' || line[length] == '\0'))
            return 1;
    }
    return 0;
}

static int refuse_chart(const char *chart, const char *kind)
{
    char why[ERROR_SIZE];
    snprintf(why, sizeof why, "is none of the charts of a %s (see epop-report --help)", kind);
    return refuse_file(chart, why);
}

static int write_charts(struct engine *engine, const struct options *options, const struct subject *subject)
{
    char error[ERROR_SIZE], *rest = NULL;
    char *names = engine_call(engine, "charts", subject->json, "", 0, error, sizeof error);
    int status = DONE;
    if (names == NULL)
        return say_failure("charts", error);
    if (options->chart != NULL) {
        status = has_name(names, options->chart) ? write_chart(engine, options, subject->json, options->chart, NULL)
                                                 : refuse_chart(options->chart, subject->kind);
    } else {
        int failed = make_folder(options->output);
        if (failed)
            status = say_failure(options->output, strerror(failed));
        for (char *name = strtok_r(names, "\n", &rest); name && status == DONE; name = strtok_r(NULL, "\n", &rest))
            status = write_chart(engine, options, subject->json, name, options->output);
    }
    free(names);
    return status;
}

static int write_page(struct engine *engine, const struct options *options, const char *json)
{
    char error[ERROR_SIZE];
    char *text = engine_call(engine, "page", json, "", 0, error, sizeof error);
    if (text == NULL)
        return say_failure("the page", error);
    int status = write_text(options->output, text);
    free(text);
    return status;
}

static int make_report(struct engine *engine, const struct options *options)
{
    char error[ERROR_SIZE];
    const char *file;
    struct subject subject = {0};
    if (subject_read(&subject, engine, options, &file, error, sizeof error) != 0)
        return refuse_file(file, error);
    int status = options->format == FORMAT_HTML ? write_page(engine, options, subject.json)
                                                : write_charts(engine, options, &subject);
    free(subject.json);
    return status;
}

int main(int argc, char **argv)
{
    struct options options;
    char error[ERROR_SIZE];
    enum options_result result = options_parse(&options, argc, argv);
    if (result == OPTIONS_DONE)
        return fflush(stdout) == 0 ? DONE : say_failure("the standard output", "cannot write");
    if (result == OPTIONS_REFUSED)
        return REFUSED;
    struct engine *engine = engine_start(error, sizeof error);
    if (engine == NULL)
        return say_failure("the charts' program", error);
    int status = make_report(engine, &options);
    engine_stop(engine);
    return status;
}
