/* Programs as the user names them, and those beside this one. */
#ifndef SCHEDULER_EPOPRM_EXECUTABLE_H
#define SCHEDULER_EPOPRM_EXECUTABLE_H

/* Can this be started: a .so that can be read, a file that can be executed, a command of the PATH? -1 after a line. */
int executable_check(const char *name);

/* A file of the tree that this program is in, as "bin/epop-report". The caller's to free; NULL: it is not there. */
char *executable_beside(const char *name);

#endif
