/* Looks at the memory of a process whenever INIT begins in it again. */
#include "driver/debug/memory.h"

#include <malloc.h>
#include <stddef.h>

#include "runtime/base/say.h"

#define LEAST ((size_t)64 << 10) /* bytes: MPI, and malloc() itself, keep less than that */

static struct {
    size_t before, made; /* bytes in use when the last INIT began, and what it allocated in a process that joined */
    int lives;
    bool told;
} memory;

static size_t bytes_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* In its first life in a program much is made that stays: of MPI, of libraries. */
void memory_init_begins(bool joining)
{
    size_t now = bytes_in_use();
    size_t grown = now > memory.before ? now - memory.before : 0;
    if (++memory.lives > 2 && memory.made >= LEAST && grown >= memory.made / 2 && !memory.told) {
        memory.told = true;
        say_line("note: this process has joined and left, and has %zu bytes more than before; INIT had allocated %zu: "
                 "what it allocates on a rank that joins has to be described, or freed by the release block",
                 grown, memory.made);
    }
    memory.before = now;
    memory.made = joining ? 1 : 0;
}

void memory_init_ends(void)
{
    size_t now = bytes_in_use();
    memory.made = memory.made && now > memory.before ? now - memory.before : 0;
}
