/* A list, changed and read a few times in a process's life. */
#include "interpose/keyvals.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/interpose.h"

struct keyval {
    int key;
    MPI_Comm_copy_attr_function *copy;
    void *extra_state;
    struct epop__fortran_keyval fortran; /* all NULL: of a C program */
};

enum { VALUE_OF_FORTRAN = 1 }; /* MPICH's number for an attribute that is an integer of an address's size */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct keyval *keyvals;
static size_t count;

/* Without memory for it the key is not noted, and its attributes stay behind. */
void keyvals_add(int keyval, MPI_Comm_copy_attr_function *copy, void *extra_state)
{
    pthread_mutex_lock(&lock);
    struct keyval *more = realloc(keyvals, (count + 1) * sizeof *more);
    if (more) {
        keyvals = more;
        keyvals[count++] = (struct keyval){.key = keyval, .copy = copy, .extra_state = extra_state};
    }
    pthread_mutex_unlock(&lock);
}

void keyvals_by_fortran(int keyval, const struct epop__fortran_keyval *how)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++) {
        if (keyvals[i].key == keyval)
            keyvals[i].fortran = *how;
    }
    pthread_mutex_unlock(&lock);
}

void keyvals_remove(int keyval)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++) {
        if (keyvals[i].key == keyval) {
            keyvals[i] = keyvals[--count];
            break;
        }
    }
    if (!count) {
        free(keyvals);
        keyvals = NULL;
    }
    pthread_mutex_unlock(&lock);
}

static void copy_by_fortran(const struct keyval *keyval, MPI_Comm before, MPI_Comm after)
{
    const struct epop__fortran_keyval *f = &keyval->fortran;
    void *value, *copied = NULL;
    int found = 0, copies = 0;
    INTERPOSE_ASIDE;
    if (f->get(before, keyval->key, &value, &found, VALUE_OF_FORTRAN) == MPI_SUCCESS && found &&
        f->copy(keyval->copy, before, keyval->key, keyval->extra_state, VALUE_OF_FORTRAN, value, &copied, &copies) ==
            MPI_SUCCESS &&
        copies)
        f->set(after, keyval->key, copied, VALUE_OF_FORTRAN);
}

static void copy_one(const struct keyval *keyval, MPI_Comm before, MPI_Comm after)
{
    void *value, *copied = NULL;
    int found = 0, copies = 0;
    if (keyval->fortran.copy) {
        copy_by_fortran(keyval, before, after);
        return;
    }
    if (keyval->copy == MPI_COMM_NULL_COPY_FN ||
        PMPI_Comm_get_attr(before, keyval->key, &value, &found) != MPI_SUCCESS || !found)
        return;
    if (keyval->copy == MPI_COMM_DUP_FN) { /* in MPI's standard interface a number, and no function */
        PMPI_Comm_set_attr(after, keyval->key, value);
        return;
    }
    INTERPOSE_ASIDE;
    if (keyval->copy(before, keyval->key, keyval->extra_state, value, &copied, &copies) == MPI_SUCCESS && copies)
        PMPI_Comm_set_attr(after, keyval->key, copied);
}

static void delete_one(const struct keyval *keyval, MPI_Comm comm, MPI_Comm unused)
{
    void *value;
    int found = 0;
    (void)unused;
    if (PMPI_Comm_get_attr(comm, keyval->key, &value, &found) != MPI_SUCCESS || !found)
        return;
    INTERPOSE_ASIDE;
    PMPI_Comm_delete_attr(comm, keyval->key);
}

/* On a copy of the list: an attribute's functions may make and free keys themselves. */
static void for_each(void (*action)(const struct keyval *, MPI_Comm, MPI_Comm), MPI_Comm before, MPI_Comm after)
{
    pthread_mutex_lock(&lock);
    size_t copied = count;
    struct keyval *list = malloc((copied + 1) * sizeof *list);
    if (list && copied)
        memcpy(list, keyvals, copied * sizeof *list);
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; list && i < copied; i++)
        action(&list[i], before, after);
    free(list);
}

void keyvals_copy(MPI_Comm before, MPI_Comm after)
{
    for_each(copy_one, before, after);
}

void keyvals_delete(MPI_Comm comm)
{
    for_each(delete_one, comm, MPI_COMM_NULL);
}
