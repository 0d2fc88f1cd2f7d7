/* The secret of a job, and the tickets made from it. */
#include "runtime/control/token.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/random.h"
#include "runtime/control/control.h"

#define PREFIX "epop-"

int control_token_make(char token[CONTROL_TOKEN_MAX])
{
    return random_hex(token, (CONTROL_TOKEN_MAX - 1) / 2);
}

/* Looks at every byte whatever it has seen, so that the time taken tells nothing about the token. */
static unsigned differs(const char *a, const char *b, size_t size)
{
    unsigned difference = 0;
    for (size_t i = 0; i < size; i++)
        difference |= (unsigned char)a[i] ^ (unsigned char)b[i];
    return difference;
}

bool control_token_within(const char *token, const void *bytes, size_t size)
{
    size_t length = strlen(token);
    bool found = false;
    if (length == 0)
        return 0;
    for (size_t at = 0; at + length <= size; at++)
        found |= !differs((const char *)bytes + at, token, length);
    return found;
}

static void make_nspace(char nspace[CONTROL_NSPACE_MAX], const char *token, char kind, int number)
{
    char salt[17] = "0";
    random_hex(salt, 8);
    snprintf(nspace, CONTROL_NSPACE_MAX, PREFIX "%s-%c%d.%s", token, kind, number, salt);
}

void control_nspace_member(char nspace[CONTROL_NSPACE_MAX], const char *token, int process)
{
    make_nspace(nspace, token, 'm', process);
}

void control_nspace_client(char nspace[CONTROL_NSPACE_MAX], const char *token)
{
    make_nspace(nspace, token, 'c', (int)getpid());
}

int control_nspace_check(const char *nspace, const char *token, int *process)
{
    const size_t prefix = sizeof PREFIX - 1, length = strlen(token);
    const char *rest = nspace + prefix + length;
    if (strlen(nspace) < prefix + length + 3 || strncmp(nspace, PREFIX, prefix))
        return -1;
    if (differs(nspace + prefix, token, length) || rest[0] != '-')
        return -1;
    char *end = NULL;
    errno = 0;
    long number = strtol(rest + 2, &end, 10);
    if (!strchr("mc", rest[1]) || end == rest + 2 || *end != '.' || errno != 0 || number < 1 || number > INT_MAX)
        return -1;
    *process = rest[1] == 'm' ? (int)number : -1;
    return 0;
}
