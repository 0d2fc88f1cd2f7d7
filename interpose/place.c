/*
 * Where a call of MPI comes from, and where its caller is called from. The first is handed in by the wrapper. The
 * second is on the stack, as far away at each call from the same place, as long as the functions between have frames of
 * a fixed size. So the stack is unwound at the first call alone, and again at the second, fourth, eighth ... to see
 * whether that still holds; of a place where it does not, the caller is not known.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <unwind.h>

#include "interpose/interpose.h"
#include "interpose/origin.h"

#define PLACES 4096 /* of which three quarters are used */

/* Known by a return address, or of what a Fortran library calls by that and the one above. */
struct known {
    uintptr_t site, above;
    intptr_t distance; /* from the frame to where the return address above is; 0: it is not known */
    uint64_t calls;
    bool is_foreign; /* the site is in MPI's Fortran library: the program's own call is the first one above that is not
                      */
};

static struct known places[PLACES];
static int place_count;

/* ---- Unwinding ---------------------------------------------------------------------------------------------- */

static bool is_in_fortran_library(uintptr_t address)
{
    static const void *base;
    static bool looked;
    Dl_info info;
    if (!looked) {
        const void *function = dlsym(RTLD_DEFAULT, "mpi_send_");
        looked = true;
        base = function && dladdr(function, &info) ? info.dli_fbase : NULL;
    }
    return base && dladdr((const void *)address, &info) && info.dli_fbase == base; /* NOLINT */
}

/* Return addresses from `site` on, and where on the stack they are. */
struct climb {
    uintptr_t site, slot, address;
    int level;        /* how far above the site is wanted */
    int at;           /* -1: the site has not been met yet */
    bool skips;       /* those in MPI's Fortran library: a call may go through several of its functions */
    uintptr_t record; /* of the function that was met last: where its caller's frame pointer is kept */
};

/* Where the return address is kept that leads to this frame; 0: not known. On aarch64 functions have frame records: it
 * is behind the caller's frame pointer, unless that register was used for something else. On others it is taken to be
 * right below the caller's frame, as x86-64 has it. */
static uintptr_t slot_of(const struct climb *climb, struct _Unwind_Context *context)
{
    uintptr_t end = _Unwind_GetCFA(context);
#ifdef __aarch64__
    bool is_record = climb->record >= interpose_origin.frame && climb->record < end && !(climb->record % 16);
    return is_record ? climb->record + sizeof(uintptr_t) : 0;
#else
    (void)climb;
    return end - sizeof(uintptr_t);
#endif
}

static void note_record(struct climb *climb, struct _Unwind_Context *context)
{
#ifdef __aarch64__
    climb->record = _Unwind_GetGR(context, 29);
#else
    (void)climb, (void)context;
#endif
}

/* Is it the one that is wanted? */
static bool is_there(struct climb *climb, uintptr_t address)
{
    if (climb->at < 0 && address != climb->site)
        return false;
    if (climb->at >= 0 && climb->skips && is_in_fortran_library(address))
        return false;
    return ++climb->at == climb->level;
}

static _Unwind_Reason_Code climb_on(struct _Unwind_Context *context, void *argument)
{
    struct climb *climb = argument;
    uintptr_t address = _Unwind_GetIP(context);
    if (!is_there(climb, address)) {
        note_record(climb, context);
        return _URC_NO_REASON;
    }
    climb->address = address;
    climb->slot = slot_of(climb, context);
    return _URC_END_OF_STACK;
}

/* How far from the frame the return address is that is `level` above the site. 0: it was not found, or is kept
 * elsewhere, or signed. */
static intptr_t unwind(const struct known *place, int level)
{
    struct climb climb = {.site = place->site, .level = level, .at = -1, .skips = place->is_foreign};
    _Unwind_Backtrace(climb_on, &climb);
    if (!climb.slot || *(const uintptr_t *)climb.slot != climb.address) /* NOLINT */
        return 0;
    return (intptr_t)(climb.slot - interpose_origin.frame);
}

/* ---- What is known ------------------------------------------------------------------------------------------ */

/* NULL: there is no room for another one. */
static struct known *find(uintptr_t site, uintptr_t above)
{
    uint64_t hash = ((uint64_t)site ^ ((uint64_t)above << 20)) * UINT64_C(0x9E3779B97F4A7C15);
    for (unsigned i = (unsigned)(hash >> 40);; i++) {
        struct known *place = &places[i % PLACES];
        if (place->site == site && place->above == above)
            return place;
        if (place->site)
            continue;
        if (place_count == PLACES / 4 * 3)
            return NULL;
        place_count++;
        *place = (struct known){.site = site, .above = above, .is_foreign = is_in_fortran_library(site)};
        return place;
    }
}

/* The return address `level` above the origin's. 0: it is not known. */
static uintptr_t above(struct known *place, int level)
{
    if (!place)
        return 0;
    uint64_t calls = ++place->calls;
    if (!(calls & (calls - 1))) {
        intptr_t distance = unwind(place, level);
        place->distance = calls == 1 || distance == place->distance ? distance : 0;
    }
    return place->distance ? *(const uintptr_t *)(interpose_origin.frame + place->distance) : 0; /* NOLINT */
}

struct interpose_place epop__interpose_place(void)
{
    struct interpose_place is = {.call = interpose_origin.site};
    struct known *place = find(is.call, 0);
    is.caller = above(place, 1);
    if (place && place->is_foreign && is.caller)
        is = (struct interpose_place){.call = is.caller, .caller = above(find(is.call, is.caller), 2)};
    return is;
}
