/* A rank's side of the roll calls (runtime/coordinator/debugging.h holds them). */
#ifndef EPOP_MEMBER_ROLLCALL_H
#define EPOP_MEMBER_ROLLCALL_H

#include "runtime/member/claim.h"
#include "runtime/member/member.h"

/*
 * Says the claim and waits until all ranks have said the same; if others are late for longer than ROLLCALL_PATIENCE,
 * it goes on, and the claims are compared when they are there: a program in which a rank needs what another sends two
 * iterations later must not come to a standstill. While the ranks are stopped it waits. The program's thread.
 */
void member_rollcall(struct member *member, const struct claim *claim);

#define ROLLCALL_PATIENCE 1.0   /* seconds */
#define ROLLCALL_LEAD     10000 /* claims that a rank may be ahead */

#endif
