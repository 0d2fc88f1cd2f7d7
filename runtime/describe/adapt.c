/* The adapt block of programs whose data is described, and the same for those who have a window of their own. */
#include <stdio.h>

#include "interpose/interpose.h"
#include "runtime/base/say.h"
#include "runtime/describe/describe.h"
#include "runtime/describe/program.h"
#include "runtime/redist/agree.h"

int epop_redist_described(const epop_window_t *window, void (*describe)(void *data, epop_description_t *d), void *data)
{
    INTERPOSE_CALL(epop_redist_described);
    if (!redist_window_open(DESCRIBE_FUNCTION, window))
        return EPOP_ERR_ARGUMENT;
    int result = describe_window(window, describe, data);
    if (result == EPOP_OK && data == describe_program.data)
        describe_program.whole = true;
    return result;
}

int epop_adapt_described(void *data)
{
    INTERPOSE_CALL(epop_adapt_described);
    epop_window_t window;
    if (!describe_program.describe) {
        say_line("epop_adapt_described: the program has no describe block; epop_describe sets it");
        return EPOP_ERR_STATE;
    }
    int result = epop_adapt_begin(&window);
    if (result == EPOP_OK)
        result = describe_program_pack();
    if (result == EPOP_OK)
        result = epop_redist_described(&window, describe_program.describe, data);
    if (result == EPOP_OK && window.status != EPOP_LEAVING)
        result = describe_program_rebuild();
    else if (result == EPOP_OK)
        describe_program_release();
    return result == EPOP_OK ? epop_adapt_commit() : result;
}
