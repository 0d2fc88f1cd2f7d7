/* The daemon before: see before.h. */
#include "scheduler/epoprm/before.h"

#include <stdlib.h>
#include <unistd.h>

#include "scheduler/epoprm/place.h"
#include "scheduler/journal/journal.h"

/* The daemon writes "" for what it was not told. */
static int read_word(struct journal *journal, const char *key, char **word, struct error *error)
{
    if (journal_meta_get(journal, key, word, error))
        return -1;
    if (*word && !**word) {
        free(*word);
        *word = NULL;
    }
    return 0;
}

static int read_words(struct journal *journal, struct before *before, struct error *error)
{
    char *local = NULL;
    int failed = read_word(journal, "hosts", &before->hosts, error) || read_word(journal, "local", &local, error) ||
                 read_word(journal, "policy", &before->policy, error) ||
                 read_word(journal, "launcher", &before->launcher, error) ||
                 read_word(journal, "launcher-exec", &before->launcher_exec, error);
    before->local = local ? atoi(local) : 0;
    free(local);
    return failed ? -1 : 0;
}

int before_read(struct before *before, struct error *error)
{
    char path[PLACE_MAX];
    struct journal *journal;
    *before = (struct before){0};
    if (place_file(path, "journal.db", error))
        return -1;
    if (access(path, F_OK))
        return 0;
    if (journal_open_reading(&journal, path, error))
        return -1;
    int failed = read_words(journal, before, error);
    journal_close(journal);
    return failed;
}

void before_free(struct before *before)
{
    free(before->hosts);
    free(before->policy);
    free(before->launcher);
    free(before->launcher_exec);
}
