/* What a mistyped word may have meant. */
#ifndef SCHEDULER_EPOPRM_NEAREST_H
#define SCHEDULER_EPOPRM_NEAREST_H

/* The name that differs in the fewest letters, at most two of them; NULL: none does. */
const char *nearest(const char *word, const char *const *names, int count);

#endif
