/* Ranges and kinds as text, and whatever a policy writes as one line of UTF-8. */
#include "scheduler/core/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void list_text(const epop_policy_range_t *range, char text[RANGE_TEXT_MAX])
{
    int length = 0;
    for (int i = 0; i < range->count; i++) {
        int last = i + 1 == range->count;
        if (length > RANGE_TEXT_MAX - 40 && !last) {
            snprintf(text + length, (size_t)(RANGE_TEXT_MAX - length), ", ... %d", range->sizes[range->count - 1]);
            return;
        }
        length += snprintf(text + length, (size_t)(RANGE_TEXT_MAX - length), "%s%d", i ? ", " : "", range->sizes[i]);
    }
}

const char *range_text(const epop_policy_range_t *range, char text[RANGE_TEXT_MAX])
{
    if (range->count > 0)
        list_text(range, text);
    else if (range->min == range->max)
        snprintf(text, RANGE_TEXT_MAX, "%d", range->min);
    else
        snprintf(text, RANGE_TEXT_MAX, "%d to %d", range->min, range->max);
    return text;
}

const char *kind_text(epop_policy_kind_t kind)
{
    static const char *const names[] = {[EPOP_RIGID] = "rigid",
                                        [EPOP_MOLDABLE] = "moldable",
                                        [EPOP_MALLEABLE] = "malleable",
                                        [EPOP_EVOLVING] = "evolving"};
    return kind <= EPOP_EVOLVING ? names[kind] : "of no known kind";
}

/* The length without a character that was cut in two. */
static size_t whole_length(const char *text, size_t length)
{
    size_t begin = length;
    while (begin > 0 && length - begin < 4 && ((unsigned char)text[begin - 1] & 0xc0) == 0x80)
        begin--;
    if (begin == 0 || (unsigned char)text[begin - 1] < 0xc0)
        return length;
    unsigned char lead = (unsigned char)text[begin - 1];
    size_t wanted = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    return length - (begin - 1) < wanted ? begin - 1 : length;
}

/* Bytes of the character that begins here; 0: it is none of UTF-8's. */
static int character(const unsigned char *at)
{
    int length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;
    for (int i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    bool wrong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
                 (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f);
    return wrong ? 0 : length;
}

/* What is written becomes JSON, which is UTF-8. */
static void replace_others(char *text)
{
    while (*text) {
        int length = character((unsigned char *)text);
        if (!length)
            *text = '?';
        text += length ? length : 1;
    }
}

void line_text(char *text)
{
    for (char *at = text; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = ' ';
    }
    replace_others(text);
}

void reason_text(char *text, size_t size, const char *format, va_list arguments)
{
    if (vsnprintf(text, size, format, arguments) < 0)
        text[0] = '\0';
    text[whole_length(text, strlen(text))] = '\0';
    line_text(text);
}
