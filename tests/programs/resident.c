/* Stays in memory after it is closed, as a C++ program with thread-local destructors does. */
#include "parts.h"

extern void *__dso_handle;
int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *dso);

static void nothing(void *object)
{
    (void)object;
}

epop_program_t *get_program(void)
{
    __cxa_thread_atexit_impl(nothing, NULL, &__dso_handle);
    epop_program_t *program = epop_program_create("resident");
    epop_add_init(program, "start", plain_init);
    return program;
}
