/* JSON in PMIx infos, and the names that stand on the wire. */
#ifndef EPOP_CONTROL_CODEC_H
#define EPOP_CONTROL_CODEC_H

#include <cjson/cJSON.h>
#include <pmix.h>
#include <stddef.h>

/* Keys of ours in PMIx messages; the values are JSON text. */
#define CONTROL_KEY_MESSAGE "epop.message" /* between the server and a member */
#define CONTROL_KEY_REQUEST "epop.request" /* from epopctl */
#define CONTROL_KEY_ANSWER  "epop.answer"  /* to epopctl */
#define CONTROL_KEY_CLIENT  "epop.client"  /* the namespace of the epopctl that asks */
#define CONTROL_KEY_HELLO   "epop.hello"   /* a member has its event handler in place */
#define CONTROL_KEY_BYE     "epop.bye"     /* a member or epopctl is about to detach */

/* The one event code that the server uses towards its tools. */
#define CONTROL_EVENT (PMIX_EXTERNAL_ERR_BASE - 71)

/* Loads JSON text into a PMIx info under `key`. 0, or -1 when out of memory. */
int control_info_load(pmix_info_t *info, const char *key, const cJSON *json);
/* The text of `key` among the infos, or NULL. Owned by the array. */
const char *control_info_text(const pmix_info_t *info, size_t count, const char *key);
/* The same parsed; the caller deletes it. NULL if there is none or it is no JSON object. */
cJSON *control_info_json(const pmix_info_t *info, size_t count, const char *key);

#endif
