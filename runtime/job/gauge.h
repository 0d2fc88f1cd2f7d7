/*
 * Measuring, from the control plane's side: switched on by the first question, answered by the control thread out of
 * the sums of runtime/member/meter.h, switched off when the coordinator says so.
 */
#ifndef EPOP_GAUGE_H
#define EPOP_GAUGE_H

#include "runtime/wire/messages.h"

/* The calling thread is the program's. Before the first message. */
void gauge_start(void);

/* The messages, on the control thread. */
void gauge_take_question(void *context, const struct order_gauge *order);
void gauge_take_end(void *context, const struct order_gauge_off *order);

#endif
