/* What has to be before all else: the power cap, phases that are near, and sizes that programs ask for. */
#ifndef SCHEDULER_POLICIES_GAIN_WISHES_H
#define SCHEDULER_POLICIES_GAIN_WISHES_H

struct gain_round;

void gain_wishes_power(struct gain_round *round);
void gain_wishes_phases(struct gain_round *round);
void gain_wishes_asked(struct gain_round *round);

#endif
