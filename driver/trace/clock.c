/* One clock for all: see clock.h. */
#include "driver/trace/clock.h"

/* Two readings give how fast the clocks drift apart, if they are far enough apart to tell it from their uncertainty. */
static double drift(const struct trace_header *process)
{
    const struct trace_clock *first = &process->clock[0], *last = &process->clock[1];
    int64_t apart = last->at - first->at, change = last->offset - first->offset;
    int64_t noise = first->uncertainty + last->uncertainty;
    if (process->clocks < 2 || apart <= 0 || (change <= noise && change >= -noise))
        return 0;
    double slope = (double)change / (double)apart;
    return slope > 0.01 || slope < -0.01 ? 0 : slope; /* no clock is that bad */
}

/* Without a drift the more certain reading counts. */
int64_t clock_common(const struct trace_header *process, int64_t time)
{
    const struct trace_clock *clock = process->clock;
    if (process->same_clock || !process->clocks)
        return time;
    double slope = drift(process);
    if (slope == 0 && process->clocks == 2 && clock[1].uncertainty < clock[0].uncertainty)
        clock++;
    return time + clock->offset + (int64_t)(slope * (double)(time - clock->at));
}
