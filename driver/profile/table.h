/* The profile as a table in plain text. */
#ifndef PROFILE_TABLE_H
#define PROFILE_TABLE_H

#include <cjson/cJSON.h>
#include <stdio.h>

/* profile: by schema/profile.schema.json. Headings are bold on a terminal, unless NO_COLOR is set. */
void table_print(const cJSON *profile, FILE *stream);

#endif
