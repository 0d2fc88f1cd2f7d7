/* A rank's side of the roll calls: see rollcall.h. */
#include "runtime/member/rollcall.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

static cJSON *claim_json(const struct claim *claim)
{
    char address[32];
    cJSON *message = json_message(REPORT(claim));
    position_to_json(&claim->at, message);
    cJSON_AddBoolToObject(message, "window", claim->window);
    cJSON_AddBoolToObject(message, "begins", claim->begins);
    cJSON_AddStringToObject(message, "words", claim->words);
    if (claim->block) {
        snprintf(address, sizeof address, "%p", claim->block);
        cJSON_AddStringToObject(message, "block", address);
    }
    return message;
}

/* Does this rank still wait for the others? Not when it had gone on without them before. With the lock held. */
static bool waits(const struct member *member, bool behind, double until)
{
    int64_t lead = member->called - member->passed;
    if (lead <= 0)
        return false;
    return member->stopped || lead > ROLLCALL_LEAD || (!behind && monotonic_seconds() < until);
}

void member_rollcall(struct member *member, const struct claim *claim)
{
    int pokes = 0;
    pthread_mutex_lock(&member->lock);
    bool behind = member->called > member->passed;
    member->called++;
    pthread_mutex_unlock(&member->lock);
    cJSON *message = claim_json(claim);
    member->tell(member->context, message);
    cJSON_Delete(message);
    pthread_mutex_lock(&member->lock);
    double until = monotonic_seconds() + ROLLCALL_PATIENCE;
    while (waits(member, behind, until)) {
        member_wait_poking(member, &pokes);
        if (member->stopped)
            until = monotonic_seconds() + ROLLCALL_PATIENCE;
    }
    pthread_mutex_unlock(&member->lock);
}
