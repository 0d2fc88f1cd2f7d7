#include "runtime/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Until the end of the file, or of the room; -1: with errno. */
static ssize_t read_up_to(int file, char *text, size_t most)
{
    size_t length = 0;
    while (length < most) {
        ssize_t got = read(file, text + length, most - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        length += (size_t)got;
    }
    return (ssize_t)length;
}

static char *read_open(int file, const char *path, size_t most, struct error *error)
{
    struct stat status;
    const char *why = NULL;
    if (fstat(file, &status))
        why = strerror(errno);
    else if (!S_ISREG(status.st_mode))
        why = "it is no regular file";
    else if ((size_t)status.st_size > most)
        why = "it is too large";
    char *text = why ? NULL : malloc((size_t)status.st_size + 1);
    ssize_t length = text ? read_up_to(file, text, (size_t)status.st_size) : -1;
    if (length >= 0) {
        text[length] = '\0';
        return text;
    }
    error_set(error, ERROR_REFUSED, "cannot read '%s': %s", path, why ? why : strerror(errno));
    free(text);
    return NULL;
}

char *file_read(const char *path, size_t most, struct error *error)
{
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        error_set(error, ERROR_REFUSED, "cannot read '%s': %s", path, strerror(errno));
        return NULL;
    }
    char *text = read_open(file, path, most, error);
    close(file);
    return text;
}
