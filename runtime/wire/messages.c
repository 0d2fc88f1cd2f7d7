/* Looking messages up in tables: see messages.h. */
#include "runtime/wire/messages.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/json.h"

const void *message_find(const void *rows, size_t count, size_t size, const cJSON *message)
{
    const char *op = json_text(message, "op");
    for (size_t i = 0; op && i < count; i++) {
        const struct message_form *form = (const void *)((const char *)rows + i * size);
        if (!strcmp(form->op, op))
            return form;
    }
    return NULL;
}

bool message_fits(const struct message_form *form, const cJSON *message, struct error *why)
{
    for (const struct message_member *m = form->needs; m->name; m++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(message, m->name);
        if (!item || !(item->type & m->types)) {
            error_set(why, ERROR_FAILED, "'%s' needs a member '%s', which is missing or of another type", form->op,
                      m->name);
            return false;
        }
    }
    return true;
}

void message_unknown(const cJSON *message, struct error *why)
{
    const char *op = json_text(message, "op");
    if (op)
        error_set(why, ERROR_FAILED, "a message '%.40s' is not understood", op);
    else
        error_set(why, ERROR_FAILED, "a message without a name is not understood");
}

void message_refuse(const struct error *why)
{
    fprintf(stderr, "epop: %s\n", why->text);
}
