/*
 * The configurations of Proteo, the synthetic application of Martín-Álvarez et al. (2021, 2022): [general], [stageN]
 * and [resizeN], or with phases [phaseN] and [phaseN.stageM].
 */
#ifndef SYNTHETIC_PROTEO_H
#define SYNTHETIC_PROTEO_H

#include "task.h"

/* Adds what the file says to the task, with a line on standard error, by file and line, for what is wrong in it, and
 * for each key that is not followed: what happens instead. 0 or EPOP_ERR_ARGUMENT. Local. */
int proteo_read(struct task *task, const char *path);

#endif
