/* Errors of HDF5: see errors.h. */
#include "runtime/checkpoint/hdf5/errors.h"

#include <stdio.h>
#include <string.h>

struct errors_before errors_hold(void)
{
    struct errors_before before;
    H5Eget_auto2(H5E_DEFAULT, &before.print, &before.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return before;
}

void errors_restore(const struct errors_before *before)
{
    H5Eset_auto2(H5E_DEFAULT, before->print, before->data);
}

/* Where the operating system has a word for it, that word: "error message = 'No space left on device', ...". */
static herr_t keep_first(unsigned place, const H5E_error2_t *entry, void *data)
{
    static const char said[] = "error message = '";
    char *why = data;
    const char *begin = strstr(entry->desc, said);
    if (place > 0)
        return 0;
    begin = begin ? begin + strlen(said) : entry->desc;
    snprintf(why, 200, "%.*s", (int)strcspn(begin, "'\n"), begin);
    return 0;
}

int errors_tell(struct error *error, const char *what)
{
    char why[200] = "no reason given";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, why);
    return error_set(error, ERROR_FAILED, "%s: %s", what, why);
}
