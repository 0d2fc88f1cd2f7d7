/*
 * Binds joining processes to cores that the running ranks of their host do not use, if those ranks are bound at all.
 * Which joining process comes up on which host is not known beforehand, so each finds its own cores, by its number
 * on its host.
 */
#ifndef EPOP_BINDING_H
#define EPOP_BINDING_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#define BINDING_TEXT_MAX 1024

/* The cores that this process may be bound to at all: its container's or batch system's share of the host. */
void binding_possible(cpu_set_t *possible);

/* Is this process bound to fewer than that? Then true, with its cores. */
bool binding_own(cpu_set_t *cores);

/*
 * The cores of joiner `index` of `count` on a host: of those possible and not used, as many as a running rank has
 * (`each`), or fewer if they do not suffice for all. Where there are fewer than joiners, these share all that are left;
 * where none is left, mine is all that are possible.
 */
void binding_share(const cpu_set_t *possible, const cpu_set_t *used, int each, int index, int count, cpu_set_t *mine);

/* Binds all threads of this process. */
void binding_set(const cpu_set_t *cores);

/* As in "0-3,8"; what does not fit is cut off. */
void binding_text(const cpu_set_t *cores, char text[BINDING_TEXT_MAX]);
void binding_parse(const char *text, cpu_set_t *cores);

#endif
