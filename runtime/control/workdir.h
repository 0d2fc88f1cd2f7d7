/* Directories for files of a job: control_directory (control.h), and sweeping them. */
#ifndef EPOP_CONTROL_WORKDIR_H
#define EPOP_CONTROL_WORKDIR_H

/* Removes this entry of the user's directory, if it is one of those, of this host, and nobody uses it. */
void control_directory_sweep(const char *base, const char *name);

#endif
