/* Mean, variance, least, most and trend of MTCT. */
#include "runtime/member/spread.h"

#include <math.h>

#include "runtime/base/json.h"
#include "runtime/wire/messages.h"

/* A rank that only waits computes for next to nothing; JSON knows no infinity. */
#define LEAST_COMPUTE 1e-9

static double at_least(double compute)
{
    return compute > LEAST_COMPUTE ? compute : LEAST_COMPUTE;
}

/* By least squares: the mean is in the middle, at (count - 1) / 2, and the next value at count. */
static double next_on_line(const double *mpi, const double *compute, int count)
{
    double mean = 0, product = 0, square = 0, middle = (count - 1) / 2.0;
    for (int i = 0; i < count; i++)
        mean += mpi[i] / at_least(compute[i]) / count;
    for (int i = 0; i < count; i++) {
        product += (i - middle) * (mpi[i] / at_least(compute[i]) - mean);
        square += (i - middle) * (i - middle);
    }
    double next = square > 0 ? mean + product / square * (count - middle) : mean;
    return next > 0 ? next : 0;
}

void spread_of(struct spread *spread, const double *mpi, const double *compute, int count)
{
    *spread = (struct spread){0};
    for (int i = 0; i < count; i++) {
        double weight = at_least(compute[i]), value = mpi[i] / weight;
        spread_merge(spread, &(struct spread){1, weight, value, 0, value, value, value});
    }
    if (count > 0)
        spread->trend = next_on_line(mpi, compute, count);
}

void spread_merge(struct spread *spread, const struct spread *other)
{
    if (!other->values)
        return;
    if (!spread->values) {
        *spread = *other;
        return;
    }
    double weight = spread->weight + other->weight, share = other->weight / weight;
    double apart = other->mean - spread->mean;
    spread->variance += share * (other->variance - spread->variance) + share * (1 - share) * apart * apart;
    spread->mean += share * apart;
    spread->trend += share * (other->trend - spread->trend);
    spread->least = fmin(spread->least, other->least);
    spread->most = fmax(spread->most, other->most);
    spread->weight = weight;
    spread->values += other->values;
}

cJSON *spread_json(const struct spread *spread)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "values", spread->values);
    if (!spread->values)
        return json;
    cJSON_AddNumberToObject(json, "mean", spread->mean);
    cJSON_AddNumberToObject(json, "variance", spread->variance);
    cJSON_AddNumberToObject(json, "min", spread->least);
    cJSON_AddNumberToObject(json, "max", spread->most);
    cJSON_AddNumberToObject(json, "trend", spread->trend);
    return json;
}

cJSON *spread_to_message(const struct spread *spread)
{
    cJSON *json = spread_json(spread);
    cJSON_AddNumberToObject(json, "weight", spread->weight);
    return json;
}

void spread_from_message(struct spread *spread, const struct shape_spread *said)
{
    *spread = (struct spread){
        .values = said->values,
        .weight = said->weight,
        .mean = said->mean,
        .variance = said->variance,
        .least = said->min,
        .most = said->max,
        .trend = said->trend,
    };
}
