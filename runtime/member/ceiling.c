/* The rare side of the probe, which another thread is on. */
#include "runtime/member/ceiling.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static long membarrier(int command)
{
    return syscall(__NR_membarrier, command, 0, 0);
}

void ceiling_init(struct ceiling *ceiling)
{
    atomic_init(&ceiling->count, 0);
    atomic_init(&ceiling->limit, CEILING_NONE);
    atomic_init(&ceiling->shift, 0);
    ceiling->fence = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0;
}

uint64_t ceiling_lower(struct ceiling *ceiling, uint64_t limit)
{
    atomic_store(&ceiling->limit, limit);
    if (ceiling->fence)
        atomic_thread_fence(memory_order_seq_cst);
    else
        membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    return atomic_load(&ceiling->count);
}
