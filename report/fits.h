/* The fits of a profile: of the whole program, and of each element that made iterations. */
#ifndef EPOP_REPORT_FITS_H
#define EPOP_REPORT_FITS_H

#include <cjson/cJSON.h>

/*
 * {"program": FIT, "elements": [FIT with a pc]}, with FIT = points, serial, parallel, fraction, deviation (null without
 * a fit) and verdict. The program's times are relative to the smallest world's. NULL: no memory. The caller frees it;
 * the profile must be a valid one.
 */
cJSON *fits_of(const cJSON *profile);

#endif
