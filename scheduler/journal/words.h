/* Lists of words in one column: a JSON array of texts. */
#ifndef SCHEDULER_JOURNAL_WORDS_H
#define SCHEDULER_JOURNAL_WORDS_H

/* words: ends with NULL. The caller's to free; NULL: no memory. */
char *words_text(const char *const *words);
/* The other way round; NULL: no memory, or no such text. */
char **words_read(const char *text);
void words_free(char **words);

#endif
