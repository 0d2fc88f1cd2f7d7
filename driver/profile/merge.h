/* The profile of a job, by schema/profile.schema.json, of the records of all processes. */
#ifndef PROFILE_MERGE_H
#define PROFILE_MERGE_H

#include <cjson/cJSON.h>
#include <epop/driver.h>

/* structure: of epop_program_to_json; mpi: the library's name or NULL. The caller deletes it. */
cJSON *merge_profile(const epop_job_t *job, const cJSON *structure, const char *mpi);

#endif
