/* What the wrappers leave behind for epop__interpose_place, of the call that this thread's observers are told of. */
#ifndef EPOP_INTERPOSE_ORIGIN_H
#define EPOP_INTERPOSE_ORIGIN_H

#include <stdint.h>

struct interpose_origin {
    uintptr_t site;  /* the address behind the call */
    uintptr_t frame; /* a place in the stack, always as far from the call's */
};
extern _Thread_local __attribute__((tls_model("initial-exec"))) struct interpose_origin interpose_origin;

#endif
