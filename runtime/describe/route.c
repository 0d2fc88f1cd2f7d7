/* Streams of constant data that moves ahead of the window. */
#include "runtime/describe/route.h"

#include <stdlib.h>
#include <string.h>

const redist_element route_number = {
    .type = MPI_INT64_T, .size = 8, .extent = 8, .true_extent = 8, .dense = 1, .compact = 1};
const redist_element route_int = {
    .type = MPI_INT, .size = sizeof(int), .extent = sizeof(int), .true_extent = sizeof(int), .dense = 1, .compact = 1};

static bool copies_go(enum route_copies which, const epop_window_t *window, int from, int to)
{
    bool joins = redist_old_rank(window, to) < 0;
    if (which == COPIES_OF_EACH || which == COPIES_APART)
        return redist_old_rank(window, from) >= 0;
    return from == 0 && (joins || which == COPIES_TO_ALL);
}

int64_t route_elements(const struct route_stream *stream, const epop_window_t *window, int from, int to)
{
    if (!stream->copies)
        return redist_stream_start(stream->plan, stream->rows, from, to).left;
    return from != to && copies_go(stream->which, window, from, to) ? stream->copies : 0;
}

static void keep_by_plan(const struct route_stream *stream, int me)
{
    redist_piece piece;
    redist_stream own = redist_stream_start(stream->plan, stream->rows, me, me);
    while (redist_stream_take(&own, own.left, &piece))
        redist_copy(&stream->element, &piece, stream->before, stream->after);
}

void route_keep_own(const struct route_stream *stream, const epop_window_t *window, int me)
{
    bool each = stream->which == COPIES_OF_EACH || stream->which == COPIES_APART;
    int64_t bytes = stream->copies * stream->element.size;
    if (!stream->before || !stream->after)
        return;
    if (!stream->copies)
        keep_by_plan(stream, me);
    else if (each && redist_old_rank(window, me) >= 0)
        memcpy((char *)stream->after + me * bytes,
               (const char *)stream->before + (stream->which == COPIES_APART ? me * bytes : 0), (size_t)bytes);
}

void route_free(struct describe_route *route)
{
    redist_lists_free(&route->lists);
    free(route->made);
    for (int i = 0; i < ROUTE_KEPT; i++)
        free(route->kept[i]);
}

/* ---- What kinds share --------------------------------------------------------------------------- */

void route_plan_dists(struct describe_route *route, const epop_window_t *window, epop_dist_t before, epop_dist_t after)
{
    redist_plan_one_row(&route->plan, window, before, after);
    route->planned = true;
}

void route_plan_lists(struct describe_route *route, const epop_window_t *window)
{
    const epop_dist2d_t none = {.grid_rows = 1, .grid_cols = 1};
    redist_plan_matrix(&route->plan, window, &none, &none);
    route->plan.lists = &route->lists;
    route->planned = true;
}

bool route_keep(struct describe_route *route, int place, int64_t count, const redist_element *element,
                struct error *error)
{
    route->kept[place] = calloc((size_t)count + 1, (size_t)element->size);
    if (!route->kept[place])
        error_memory(error);
    return route->kept[place];
}

bool route_stays(const struct describe_route *route, const epop_window_t *window)
{
    if (window->old_rank < 0 || window->new_rank < 0)
        return false;
    return route->copies || redist_plan_in_place(&route->plan);
}
