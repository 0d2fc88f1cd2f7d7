/* Files that are there whole or not at all. */
#ifndef EPOP_REPORT_OUTPUT_H
#define EPOP_REPORT_OUTPUT_H

/* Writes the text; "-" is the standard output. 0, or an errno. A file that was there is replaced. */
int output_write(const char *path, const char *text);

/* Makes a folder if it is not there. 0, or an errno. */
int output_folder(const char *path);

#endif
