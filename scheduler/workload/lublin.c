/* The model of Lublin and Feitelson: sizes, then run times by size, and arrivals by the hour of the day. */
#include "scheduler/workload/lublin.h"

#include <math.h>
#include <string.h>

/* ---- Drawing ------------------------------------------------------------------------------------ */

struct draws {
    uint64_t seed;
    int64_t count;
};

/* From 0 to 1, both excluded. */
static double draw_one(struct draws *draws)
{
    return fmax(workload_drawn(draws->seed, draws->count++, "lublin"), 1e-18);
}

static double draw_between(struct draws *draws, double low, double high)
{
    return low + (high - low) * draw_one(draws);
}

/* G. Box and M. Muller, 1958. */
static double draw_normal(struct draws *draws)
{
    double length = sqrt(-2 * log(draw_one(draws)));
    return length * cos(2 * acos(-1) * draw_one(draws));
}

/* G. Marsaglia and W. Tsang, "A simple method for generating gamma variables", 2000; shape >= 1. */
static double draw_gamma(struct draws *draws, double shape, double scale)
{
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = draw_normal(draws), v = pow(1 + c * x, 3);
        if (v > 0 && log(draw_one(draws)) < x * x / 2 + d - d * v + d * log(v))
            return d * v * scale;
    }
}

/* Of a logarithm of seconds: what is above is drawn again. */
static double draw_gamma_up_to(struct draws *draws, double shape, double scale, double most)
{
    double value = draw_gamma(draws, shape, scale);
    while (value > most)
        value = draw_gamma(draws, shape, scale);
    return value;
}

/* ---- Sizes -------------------------------------------------------------------------------------- */

/* One node, or a logarithm to base 2 that is uniform in two stages, whole for powers of two. The second stage begins
 * two below the machine's size, as published for 128 nodes. */
#define SERIAL 0.2927
#define POWERS 0.6686 /* of all jobs, beside the serial ones */
#define LEAST  1.2
#define STAGE  2.0
#define FIRST  0.875 /* of the parallel jobs are in the first stage */

static int draw_nodes(struct draws *draws, int machine)
{
    double kind = draw_one(draws), most = log2(machine), middle = fmax(most - STAGE, fmin(LEAST, most));
    bool first = draw_one(draws) <= FIRST;
    double size = first ? draw_between(draws, fmin(LEAST, most), middle) : draw_between(draws, middle, most);
    if (kind <= SERIAL)
        return 1;
    if (kind <= SERIAL + POWERS)
        size = floor(size + 0.5);
    return (int)fmin(floor(exp2(size) + 0.5), machine);
}

/* ---- Run times ---------------------------------------------------------------------------------- */

/* Their natural logarithm is of one of two gamma distributions; of the first, that of short jobs, the less likely the
 * more nodes a job has. */
#define SHORT_SHAPE  6.57
#define SHORT_SCALE  0.823
#define LONG_SHAPE   639.1
#define LONG_SCALE   0.0156
#define SLOPE        (-0.003)
#define INTERCEPT    0.6986
#define LONGEST_TIME 12.0 /* e^12 s: 45 hours */

static double draw_seconds(struct draws *draws, int nodes)
{
    bool is_short = draw_one(draws) <= SLOPE * nodes + INTERCEPT;
    double value;
    if (is_short)
        value = draw_gamma_up_to(draws, SHORT_SHAPE, SHORT_SCALE, LONGEST_TIME);
    else
        value = draw_gamma_up_to(draws, LONG_SHAPE, LONG_SCALE, LONGEST_TIME);
    return fmax(1, floor(exp(value)));
}

/* ---- Arrivals ----------------------------------------------------------------------------------- */

/* The logarithm of the seconds between two jobs is of a gamma distribution, stretched by how many jobs come in the half
 * hours of a day, which is another one, from half past five on. */
#define GAP_SHAPE   (6.0415 * 1.0519) /* of the rush hours; as against all hours */
#define GAP_SCALE   0.8531
#define LONGEST_GAP 13.0
#define DAY_SHAPE   6.1271
#define DAY_SCALE   5.2740
#define SLOTS       48
#define SLOT        1800.0
#define DAY_START   11

struct day {
    double weights[SLOTS]; /* 1 in the mean */
    int slot;
    double passed; /* of the present slot, in its weight */
    double begun;  /* seconds, when it began */
};

/* Of a half hour: Simpson's rule; what it is of the whole does not matter. */
static double slot_weight(int place)
{
    double sum = 0;
    for (int i = 0; i <= 8; i++) {
        double x = place - 0.5 + i / 8.0, density = pow(x, DAY_SHAPE - 1) * exp(-x / DAY_SCALE);
        sum += density * (i == 0 || i == 8 ? 1 : i % 2 ? 4 : 2);
    }
    return sum;
}

static struct day begin_day(void)
{
    struct day day = {.slot = 0};
    double sum = 0;
    for (int i = DAY_START; i < DAY_START + SLOTS; i++)
        sum += day.weights[(i - 1) % SLOTS] = slot_weight(i);
    for (int i = 0; i < SLOTS; i++)
        day.weights[i] *= SLOTS / sum;
    return day;
}

/* The next job's submission. */
static double draw_arrival(struct draws *draws, struct day *day)
{
    day->passed += exp(draw_gamma_up_to(draws, GAP_SHAPE, GAP_SCALE, LONGEST_GAP)) / SLOT;
    while (day->passed > day->weights[day->slot]) {
        day->passed -= day->weights[day->slot];
        day->slot = (day->slot + 1) % SLOTS;
        day->begun += SLOT;
    }
    return day->begun + SLOT * day->passed / day->weights[day->slot];
}

/* ---- The jobs ----------------------------------------------------------------------------------- */

static int add_job(struct workload *workload, struct draws *draws, struct day *day)
{
    static const struct speedup linear = {.model = SPEEDUP_LINEAR};
    struct work *work = workload_add(workload);
    if (!work)
        return -1;
    work->id = (int64_t)workload->count;
    work->user = -1;
    work->submit = floor(draw_arrival(draws, day));
    work->wanted = draw_nodes(draws, workload->nodes);
    work_set_range(work, work->wanted, work->wanted);
    work->limit = draw_seconds(draws, work->wanted);
    work->name = strdup("job");
    return work->name ? work_one_phase(work, "run", work->limit, &linear) : -1;
}

int lublin_draw(struct workload *workload, int nodes, int jobs, uint64_t seed)
{
    struct draws draws = {.seed = seed};
    struct day day = begin_day();
    *workload = (struct workload){.nodes = nodes, .name = strdup("lublin"), .notes = strdup("")};
    if (!workload->name || !workload->notes)
        return -1;
    for (int i = 0; i < jobs; i++)
        if (add_job(workload, &draws, &day))
            return -1;
    return 0;
}
