/* Questions to the coordinator about process sets, as the calls of sessions make them. */
#ifndef EPOP_ADAPT_QUESTION_H
#define EPOP_ADAPT_QUESTION_H

#include <cjson/cJSON.h>
#include <mpi.h>
#include <stdbool.h>

#include "runtime/base/error.h"

/* A new one; what it says besides is added to it. */
cJSON *question(const char *about);

/* Adds the name of a set to it. To a process that was started to join mpi://WORLD is what was started with it, whose
 * name question_birth asks for, until question_grown: it has met the others. */
void question_name(cJSON *question, const char *key, const char *set);
void question_birth(void);
void question_grown(void);

/* Likewise a list of names. */
void question_names(cJSON *question, const char *key, char *const *sets, int count);

/* The same question, together with all who say the same list of names. */
void question_all(cJSON *question, const char *key);

/* The same question, together with the other processes of that set. */
void question_together(cJSON *question, const char *set, const char *what);

/* Asks it (taken), and waits. The answer, the caller's; or NULL with text. */
cJSON *question_ask(cJSON *question, struct error *why);

/* Says it (taken), and wants no answer. */
void question_tell(cJSON *question);

/* What an answer says against it, or NULL: nothing. */
const char *answer_refusal(const cJSON *answer);

/* Names in an answer as a program gets them: an array that it frees, as each of them. NULL: none, or out of memory. */
char **answer_sets(const cJSON *answer, int *count);

/* Info objects: all that is in one as texts by key; a number of one (otherwise: the key is not there). */
cJSON *info_to_json(MPI_Info info);
bool info_text(MPI_Info info, const char *key, char text[MPI_MAX_INFO_VAL + 1]);
void info_set(MPI_Info info, const char *key, const char *value);
void info_set_number(MPI_Info info, const char *key, double value);

#endif
