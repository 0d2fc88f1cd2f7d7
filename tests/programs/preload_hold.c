/*
 * No program, but a library to be preloaded: as long as the file EPOP_TEST_HOLD is there, the thread of rank 1 that has
 * told the coordinator that its communicators are made goes no further.
 */
#include <cjson/cJSON.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_rank_1(void)
{
    const char *rank = getenv("PMI_RANK");
    return rank && !strcmp(rank, "1");
}

static int says_connected(const cJSON *message)
{
    for (const cJSON *item = message ? message->child : NULL; item; item = item->next)
        if (item->string && !strcmp(item->string, "op") && item->valuestring && !strcmp(item->valuestring, "connected"))
            return 1;
    return 0;
}

/* The message has been sent when it is freed. */
void cJSON_Delete(cJSON *message)
{
    const char *hold = getenv("EPOP_TEST_HOLD");
    void *found = dlsym(RTLD_NEXT, "cJSON_Delete");
    void (*real)(cJSON *);
    while (hold && is_rank_1() && says_connected(message) && access(hold, F_OK) == 0)
        usleep(1000);
    memcpy(&real, &found, sizeof found); /* ISO C converts no object pointer into a function's */
    real(message);
}
