/* Fairness among users: who holds more than an equal share counts less. */
#ifndef SCHEDULER_POLICIES_GAIN_USERS_H
#define SCHEDULER_POLICIES_GAIN_USERS_H

struct gain_round;
struct gain_job;

/* Lowers the weights of the jobs whose users hold more than their share. */
void gain_users_weigh(struct gain_round *round);

#endif
