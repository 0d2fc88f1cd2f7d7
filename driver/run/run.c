/* The default driver: adds nothing to the walk. */
#include "driver/common/builtin.h"

const epop_driver_t driver_run = {
    .abi_version = EPOP_DRIVER_ABI_VERSION,
    .struct_size = sizeof(epop_driver_t),
    .name = "run",
    .summary = "runs the program (the default)",
};
