/* A valid program of all four types in a static variable, with the structural fault that EPOP_TEST_FAULT names. */
#include "parts.h"

enum { START, WORK, AGAIN, REPORT, ELEMENTS };

static epop_element_t elements[ELEMENTS] = {
    {.type = EPOP_INIT, .name = "start", .init = plain_init},
    {.type = EPOP_EP,
     .name = "work",
     .phase_exec = plain_block,
     .phase_adapt = plain_block,
     .loop_condition = plain_block},
    {.type = EPOP_BRANCH, .name = "again", .branch_condition = next_element},
    {.type = EPOP_RP, .name = "report", .phase_exec = plain_block},
};

static epop_program_t program = {.size = ELEMENTS, .elements = elements, .abi_version = EPOP_ABI_VERSION};

epop_program_t *get_program(void)
{
    if (fault_is("no-elements"))
        program.size = 0;
    if (fault_is("null-elements"))
        program.elements = NULL;
    if (fault_is("no-init"))
        elements[START] = elements[REPORT];
    if (fault_is("init-not-first"))
        elements[REPORT] = elements[START], elements[START] = elements[WORK];
    if (fault_is("two-inits"))
        elements[AGAIN] = elements[START];
    if (fault_is("unknown-type"))
        elements[AGAIN].type = (epop_element_type)5;
    if (fault_is("no-init-block"))
        elements[START].init = NULL;
    if (fault_is("no-exec"))
        elements[WORK].phase_exec = NULL;
    if (fault_is("no-adapt"))
        elements[WORK].phase_adapt = NULL;
    if (fault_is("no-loop"))
        elements[WORK].loop_condition = NULL;
    if (fault_is("no-branch-block"))
        elements[AGAIN].branch_condition = NULL;
    if (fault_is("no-exec-rp"))
        elements[REPORT].phase_exec = NULL;
    if (fault_is("finalizer-is-ep"))
        program.finalizer = WORK;
    if (fault_is("no-size"))
        program.sizes = (epop_sizes_t){.kind = EPOP_SIZE_SQUARE, .min = 5, .max = 8};
    return &program;
}
