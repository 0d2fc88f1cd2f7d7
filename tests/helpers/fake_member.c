/*
 * A member for tests, which gets the address on stdin so that the token stands on no command line:
 *
 *   URI TOKEN PROCESS
 *
 * Prints "attached", or "refused: WHY" and exits with status 1. Then echoes every message to the server; prints
 * "lost" and exits with status 2 when the server goes. "aside" on stdin has those go to another one that come by it.
 * Detaches at the end of stdin.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/control/control.h"

#define ATTACH_LIMIT_MS 5000

static void on_message(void *context, const cJSON *message)
{
    (void)context;
    control_tell(message);
}

static void on_lost(void *context)
{
    (void)context;
    puts("lost");
    fflush(stdout);
    _exit(2);
}

int main(void)
{
    static const struct control_member_ops ops = {.message = on_message, .lost = on_lost};
    char uri[CONTROL_URI_MAX], token[CONTROL_TOKEN_MAX];
    struct error error;
    char line[64];
    int process;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (scanf("%511s %64s %d", uri, token, &process) != 3)
        return 3;
    if (control_attach(uri, token, process, &ops, NULL, ATTACH_LIMIT_MS, &error)) {
        printf("refused: %s\n", error.text);
        return 1;
    }
    puts("attached");
    while (fgets(line, sizeof line, stdin))
        if (!strcmp(line, "aside\n"))
            control_step_aside();
    control_detach(false);
    puts("detached");
    return 0;
}
