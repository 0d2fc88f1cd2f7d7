/* Numbers and lengths of time as people write them: 30, 30s, 10m, 1.5h. */
#ifndef EPOP_BASE_DURATION_H
#define EPOP_BASE_DURATION_H

/* As strtod, of decimal numbers alone: neither 0x10 nor inf nor nan is one, nor what begins with a blank. */
double decimal_read(const char *text, char **end);

/* 0, or -1: it is none, or negative. */
int duration_read(const char *text, double *seconds);

#endif
