/* The texts of epop_result. */
#include <epop/program.h>

const char *epop_result_text(int result)
{
    switch (result) {
    case EPOP_OK:
        return "no error";
    case EPOP_ERR_ARGUMENT:
        return "an argument makes no sense";
    case EPOP_ERR_STATE:
        return "called where it may not be called";
    case EPOP_ERR_MEMORY:
        return "out of memory";
    case EPOP_ERR_MPI:
        return "an MPI function failed";
    case EPOP_ERR_REFUSED:
        return "not possible now";
    case EPOP_ERR_SYSTEM:
        return "an operating system call failed";
    default:
        return "an error number of the program's own";
    }
}
