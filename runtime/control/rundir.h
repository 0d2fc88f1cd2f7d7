/* The directories of a user for EPOP: for address files and sockets, and for files of jobs. */
#ifndef EPOP_CONTROL_RUNDIR_H
#define EPOP_CONTROL_RUNDIR_H

#include <stddef.h>

#include "runtime/base/error.h"

/* Where the address file goes: the user's directory for EPOP, made if missing, but for a job of a batch system the
 * directory that its hosts share, where that can be had. 0, or -1 with text when it is not ours alone. */
int control_rundir_jobs(char *path, size_t size, struct error *error);
/* Makes the directory if it is missing and checks that it is ours alone. 0, or -1 with text. */
int control_rundir_make(const char *path, struct error *error);
/* The path of this process's socket in it. */
int control_rundir_socket(char *path, size_t size, struct error *error);
/* Removes such a directory with its files. */
void control_rundir_remove(const char *path);

/* The directories in which address files may be: the environment of a job may differ from epopctl's. Only those that
 * are ours alone. How many of paths were filled. */
#define CONTROL_RUNDIRS_MAX 4
int control_rundirs(char paths[CONTROL_RUNDIRS_MAX][256]);

/* The namespace that process numbers of this process are of, which a container may have to itself: "" for the one that
 * a machine starts with. */
#define CONTROL_NAMESPACE_MAX 96
void control_namespace(char text[CONTROL_NAMESPACE_MAX]);

/* The same as the end of a file's name whose name has a process number: "", or a dot and a few letters. */
#define CONTROL_NAMESPACE_MARK_MAX 16
void control_namespace_mark(char text[CONTROL_NAMESPACE_MARK_MAX]);

/* Removes this entry of the user's directory, if it is a directory for files of a job (control_directory), of this
 * host, and nobody uses it. */
void control_directory_sweep(const char *base, const char *name);

#endif
