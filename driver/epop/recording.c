/* Between the runtime's records and the drivers' tables: see recording.h. */
#include "driver/epop/recording.h"

#include "runtime/records/records.h"

static struct drivers *all;
static int slots[DRIVERS_MAX]; /* of those that record */

_Static_assert(DRIVERS_MAX <= RECORDS_MAX, "every driver may record");

static char *record(int which, int last)
{
    const struct driver_slot *slot = &all->slots[slots[which]];
    return slot->table.record(slot->state, last);
}

static int write_result(int which, const epop_job_t *job)
{
    const struct driver_slot *slot = &all->slots[slots[which]];
    return slot->table.write(slot->state, job);
}

static double checkpoint(int which)
{
    const struct driver_slot *slot = &all->slots[slots[which]];
    return slot->table.checkpoint ? slot->table.checkpoint(slot->state) : 0;
}

void recording_use(struct drivers *drivers, int quiet)
{
    static struct records_user user = {.record = record, .write = write_result, .checkpoint = checkpoint};
    all = drivers;
    user.quiet = quiet;
    for (int i = 0; i < drivers->count; i++)
        if (drivers->slots[i].table.record && drivers->slots[i].table.write)
            slots[user.count++] = i;
    epop__records_use(&user);
}
