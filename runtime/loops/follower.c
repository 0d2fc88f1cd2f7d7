/* The followed thread compares what it found now and then; others read the outcome. */
#include "runtime/loops/follower.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Places ------------------------------------------------------------------------------------------------ */

const char *follower_file(uintptr_t address, uintptr_t *offset)
{
    Dl_info info;
    struct link_map *map;
    *offset = address;
    if (!address || !dladdr1((const void *)address, &info, (void **)&map, RTLD_DL_LINKMAP)) /* NOLINT */
        return "";
    *offset = address - map->l_addr;
    return info.dli_fname;
}

/* The same in all processes that run this program, wherever it was loaded to and the file is. */
static uint64_t mix_place(uint64_t hash, uintptr_t address)
{
    uintptr_t offset;
    const char *path = follower_file(address, &offset), *slash = strrchr(path, '/');
    for (const char *c = slash ? slash + 1 : path; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return (hash ^ offset) * UINT64_C(0x100000001b3);
}

static uint64_t id_of(struct loops_site site)
{
    uint64_t hash = mix_place(UINT64_C(0xcbf29ce484222325), site.call);
    return mix_place(hash, site.caller) ^ (uint64_t)site.what;
}

/* ---- The followed thread ----------------------------------------------------------------------------------- */

static void learn_nodes(struct follower *f)
{
    for (; f->known_count < f->loops->node_count; f->known_count++) {
        struct loops_site site = f->loops->nodes[f->known_count].site;
        f->known[f->known_count] =
            (struct loops_known){.kind = interpose_kind((enum interpose_function)site.what), .id = id_of(site)};
    }
}

static void tell_places(struct follower *f)
{
    for (int i = atomic_load(&f->told_count); i < f->loops->lap_count; i++) {
        f->told[i].head = f->loops->nodes[f->loops->laps[i].head].site;
        f->told[i].tail = f->loops->nodes[f->loops->laps[i].tail].site;
        atomic_store(&f->told_count, i + 1);
    }
}

static void compare(struct follower *f)
{
    struct loops_likeness like[LOOPS_LAPS];
    f->compared_edges = f->loops->edge_count;
    f->changed = false;
    learn_nodes(f);
    tell_places(f);
    loops_compare(f->loops, f->known, like);
    for (int i = 0; i < f->loops->lap_count; i++) {
        struct follower_told *told = &f->told[i];
        atomic_store_explicit(&told->id, like[i].id, memory_order_relaxed);
        atomic_store_explicit(&told->match, like[i].match, memory_order_relaxed);
        atomic_store_explicit(&told->outer, like[i].outer, memory_order_relaxed);
        atomic_store_explicit(&told->is_loop, f->loops->edges[f->loops->laps[i].edge].closes, memory_order_release);
    }
}

/* A call has followed another that it had not followed before. */
static bool has_changed(struct follower *f)
{
    f->changed |= f->compared_edges != f->loops->edge_count || f->loops->closes;
    return f->changed;
}

void follower_compare(struct follower *f)
{
    if (f->loops && has_changed(f))
        compare(f);
}

struct loops_ended follower_called(struct follower *f, enum interpose_function function, int64_t now, int64_t mpi,
                                   int64_t pause)
{
    struct loops_ended ended = {.lap = LOOPS_NONE};
    if (interpose_kind(function) == '.' || (!f->loops && !(f->loops = loops_new())))
        return ended;
    struct interpose_place place = epop__interpose_place();
    ended = loops_follow(
        f->loops, (struct loops_site){.call = place.call, .caller = place.caller, .what = (int)function}, now, mpi);
    if (ended.lap == LOOPS_NONE || !has_changed(f) || now - f->compared < pause)
        return ended;
    f->compared = now;
    compare(f);
    return ended;
}

void follower_break(struct follower *f)
{
    if (f->loops)
        loops_break(f->loops);
}

void follower_begin_anew(struct follower *f)
{
    follower_break(f);
    if (f->loops)
        f->loops->at = LOOPS_NONE;
}

void follower_free(struct follower *f)
{
    free(f->loops);
    f->loops = NULL;
}

/* ---- Any thread -------------------------------------------------------------------------------------------- */

static bool is_told(const struct follower *f, int lap)
{
    return lap >= 0 && lap < atomic_load(&f->told_count) &&
           atomic_load_explicit(&f->told[lap].is_loop, memory_order_acquire);
}

static void add_place(cJSON *json, const char *key, uintptr_t address)
{
    char text[4200];
    uintptr_t offset;
    const char *path = follower_file(address, &offset);
    snprintf(text, sizeof text, "%s+%#" PRIxPTR, path, offset);
    cJSON_AddStringToObject(json, key, text);
}

void follower_add_site(cJSON *json, const char *key, struct loops_site site)
{
    cJSON *object = cJSON_AddObjectToObject(json, key);
    add_place(object, "place", site.call);
    if (site.caller)
        add_place(object, "from", site.caller);
    cJSON_AddStringToObject(object, "mpi", epop__interpose_name((enum interpose_function)site.what));
}

static void add_number(cJSON *json, const char *key, uint64_t number)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, number);
    cJSON_AddStringToObject(json, key, text);
}

bool follower_describe(const struct follower *f, int lap, cJSON *json)
{
    if (!is_told(f, lap))
        return false;
    uint64_t match = atomic_load_explicit(&f->told[lap].match, memory_order_relaxed);
    add_number(json, "id", atomic_load_explicit(&f->told[lap].id, memory_order_relaxed));
    if (match)
        add_number(json, "match", match);
    follower_add_site(json, "head", f->told[lap].head);
    follower_add_site(json, "tail", f->told[lap].tail);
    return true;
}

int follower_outer(const struct follower *f, int lap)
{
    return is_told(f, lap) ? atomic_load_explicit(&f->told[lap].outer, memory_order_relaxed) : LOOPS_NONE;
}

/* Has another loop of this rank the same collective operations? */
static bool is_ambiguous(const struct follower *f, int lap, uint64_t match)
{
    for (int i = 0; i < atomic_load(&f->told_count); i++)
        if (i != lap && is_told(f, i) && atomic_load_explicit(&f->told[i].match, memory_order_relaxed) == match)
            return true;
    return false;
}

uint64_t follower_key(const struct follower *f, int lap)
{
    if (!is_told(f, lap))
        return 0;
    uint64_t match = atomic_load_explicit(&f->told[lap].match, memory_order_relaxed);
    return match && !is_ambiguous(f, lap, match) ? match : atomic_load_explicit(&f->told[lap].id, memory_order_relaxed);
}
