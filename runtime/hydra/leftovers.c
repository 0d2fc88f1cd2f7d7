/* Removing what killed processes of MPICH left in shared memory. */
#include "runtime/hydra/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "mpich_shar_tmp"

/* MPICH takes the other one where it cannot have the first. */
static const char *folder(void)
{
    return access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
}

/*
 * The kernel gives a lease to write only on a file that nobody else has open or mapped, in whatever container; and as
 * long as it is held, who opens the file waits. (This process is sent a signal then; SIGURG, unlike the usual one, is
 * no harm.)
 */
static void remove_unless_in_use(int files, const char *name)
{
    struct stat file;
    int fd = openat(files, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    bool ours = !fstat(fd, &file) && S_ISREG(file.st_mode) && file.st_uid == geteuid();
    if (ours && !fcntl(fd, F_SETSIG, SIGURG) && !fcntl(fd, F_SETLEASE, F_WRLCK))
        unlinkat(files, name, 0);
    close(fd);
}

void leftovers_remove(void)
{
    DIR *files = opendir(folder());
    if (!files)
        return;
    for (const struct dirent *entry; (entry = readdir(files));)
        if (!strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1))
            remove_unless_in_use(dirfd(files), entry->d_name);
    closedir(files);
}
