/* A check that goes on: counts what is wrong in an int of that name, and says it on stderr. */
#ifndef TESTS_EXPECT_H
#define TESTS_EXPECT_H

#include <stdio.h>

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "WRONG in %s: %s\n", __func__, #condition);                                                \
            wrong++;                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
