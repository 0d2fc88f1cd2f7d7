/* Text that a signal handler puts together: no stdio, no memory from the heap. What does not fit is cut off. */
#ifndef EPOP_CRASH_TEXT_H
#define EPOP_CRASH_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct crash_text {
    size_t used;
    char bytes[16384]; /* always ended by NUL */
};

static inline void text_add(struct crash_text *text, const char *more)
{
    while (more && *more && text->used < sizeof text->bytes - 1)
        text->bytes[text->used++] = *more++;
    text->bytes[text->used] = 0;
}

/* Takes the newline at the end away. */
static inline void text_end_line(struct crash_text *text)
{
    if (text->used && text->bytes[text->used - 1] == '\n')
        text->bytes[--text->used] = 0;
}

static inline void text_add_digits(struct crash_text *text, uint64_t number, unsigned base)
{
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = 0;
    do
        digits[--at] = "0123456789abcdef"[number % base];
    while (number /= base);
    text_add(text, digits + at);
}

static inline void text_add_number(struct crash_text *text, int64_t number)
{
    if (number < 0)
        text_add(text, "-");
    text_add_digits(text, number < 0 ? -(uint64_t)number : (uint64_t)number, 10);
}

static inline void text_add_address(struct crash_text *text, uintptr_t address)
{
    text_add(text, "0x");
    text_add_digits(text, address, 16);
}

#endif
