/* What is shown of a job while it runs, on a line of a terminal: watch, and the rows of top. */
#include "epopctl/live.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "epopctl/output.h"
#include "runtime/base/json.h"

/* "45 %", "450", "-" */
static void progress_text(const cJSON *progress, char text[32])
{
    double done = json_number(progress, "iteration", 0), bound = json_number(progress, "bound", 0);
    strcpy(text, "-");
    if (bound > 0)
        snprintf(text, 32, "%.0f %%", floor(100 * fmin(done / bound, 1)));
    else if (cJSON_IsObject(progress))
        snprintf(text, 32, "%.0f", done);
}

/* "2 -> 4" of the last one that happened, "-" */
static void resize_text(const cJSON *status, char text[64])
{
    const cJSON *adaptation;
    strcpy(text, "-");
    cJSON_ArrayForEach(adaptation, cJSON_GetObjectItem(status, "adaptations"))
    {
        if (!strcmp(term_text(adaptation, "state", ""), "committed"))
            snprintf(text, 64, "%.0f -> %.0f", json_number(adaptation, "from", 0), json_number(adaptation, "to", 0));
    }
}

/* Of rank 0, out of the MPI share that a driver has measured. */
static void mtct_text(const cJSON *status, char text[32])
{
    double share = json_number(status, "mpi_share", -1);
    strcpy(text, share < 1 ? "-" : "inf");
    if (share >= 0 && share < 1)
        snprintf(text, 32, "%.3g", share / (1 - share));
}

void ctl_live(const cJSON *status, struct ctl_live *live)
{
    const cJSON *progress = cJSON_GetObjectItem(status, "progress");
    progress_text(progress, live->progress);
    strcpy(live->left, "-");
    if (cJSON_HasObjectItem(progress, "left"))
        term_duration(json_number(progress, "left", 0), live->left);
    mtct_text(status, live->mtct);
    resize_text(status, live->resize);
}

/* "[=====>    ]" */
static void bar(const cJSON *progress, char text[32])
{
    double done = json_number(progress, "iteration", 0), bound = json_number(progress, "bound", 0);
    int full = bound > 0 ? (int)(20 * fmin(done / bound, 1)) : 0;
    text[0] = '\0';
    if (bound > 0)
        snprintf(text, 32, "[%.*s%s%*s] ", full, "====================", full < 20 ? ">" : "",
                 full < 20 ? 19 - full : 0, "");
}

void ctl_live_line(const cJSON *status, char *text, size_t size)
{
    struct ctl_live live;
    char picture[32];
    int columns = term_columns() - 1;
    double size_of_world = json_number(status, "size", 0);
    ctl_live(status, &live);
    bar(cJSON_GetObjectItem(status, "progress"), picture);
    snprintf(text, size, "%.60s  %.12s  %.0f %s  %s%s  left %s  MTCT %s  last resize %s", term_text(status, "job", "?"),
             term_text(status, "state", "?"), size_of_world, size_of_world == 1 ? "rank" : "ranks", picture,
             live.progress, live.left, live.mtct, live.resize);
    if (columns >= 0 && strlen(text) > (size_t)columns)
        text[columns] = '\0';
}
