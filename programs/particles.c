/*
 * Particles on a ring that is cut into one piece per rank. In every iteration each of them moves on, and goes to the
 * rank whose piece it has come to; in a resize it goes to that of the new pieces. Where it must be follows from its
 * number and the iteration, so one that is lost, doubled or misplaced is found at once.
 *
 *     mpiexec.mpich -n 4 epop --start 2 particles.so 10000 5000      (particles, iterations)
 */
#include <epop/epop.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RING = 1 << 20 };

typedef struct particle {
    int64_t id, place;
} particle_t;

typedef struct swarm {
    struct {
        int64_t particles, iterations, step;
    } p; /* the same on every rank */
    particle_t *here;
    int64_t count;
    MPI_Datatype type;
} swarm_t;

static int64_t place_of(int64_t id, int64_t step)
{
    int64_t place = (id * 7919 + step * (id % 2301 - 1150)) % RING;
    return place < 0 ? place + RING : place;
}

static int owner_of(const void *item, int size, const void *context)
{
    (void)context;
    return (int)(((const particle_t *)item)->place * size / RING);
}

static void describe(void *data, epop_description_t *d)
{
    swarm_t *s = data;
    epop_describe_values(d, "parameters", &s->p, sizeof s->p);
    epop_describe_items(d, "particles", &s->here, &s->count, s->type, owner_of, NULL, 0);
}

/* Rank r begins with every size-th particle: the first exchange brings them to their pieces. */
static int init(int *argc, char ***argv, void **data)
{
    swarm_t *s = *data = calloc(1, sizeof *s);
    int rank, size;
    if (!s || MPI_Type_contiguous(2, MPI_INT64_T, &s->type) || MPI_Type_commit(&s->type))
        return EPOP_ERR_MEMORY;
    if (epop_status() != EPOP_NEW)
        return 0; /* its particles are to come */
    s->p.particles = *argc > 1 ? atoll((*argv)[1]) : 10000;
    s->p.iterations = *argc > 2 ? atoll((*argv)[2]) : 1000;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    s->here = malloc((size_t)(s->p.particles / size + 1) * sizeof *s->here);
    for (int64_t id = rank; s->here && id < s->p.particles; id += size)
        s->here[s->count++] = (particle_t){id, place_of(id, 0)};
    return s->here ? epop_items_exchange(&s->here, &s->count, s->type, owner_of, NULL) : EPOP_ERR_MEMORY;
}

static int move(void *data)
{
    swarm_t *s = data;
    int rank, size;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    for (int64_t i = 0; i < s->count; i++) {
        particle_t *it = &s->here[i];
        if (it->place != place_of(it->id, s->p.step) || owner_of(it, size, NULL) != rank) {
            fprintf(stderr, "particles: rank %d has particle %lld at %lld in iteration %lld\n", rank, (long long)it->id,
                    (long long)it->place, (long long)s->p.step);
            return 1;
        }
        it->place = place_of(it->id, s->p.step + 1);
    }
    s->p.step++;
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    return epop_items_exchange(&s->here, &s->count, s->type, owner_of, NULL);
}

static int more(void *data)
{
    const swarm_t *s = data;
    return s->p.step < s->p.iterations;
}

/* Each once: as many as there were, and the numbers add up. */
static int report(void *data)
{
    swarm_t *s = data;
    int rank, size;
    int64_t all[2] = {s->count, 0}, n = s->p.particles;
    MPI_Comm_rank(epop_world(), &rank);
    MPI_Comm_size(epop_world(), &size);
    for (int64_t i = 0; i < s->count; i++)
        all[1] += s->here[i].id;
    MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT64_T, MPI_SUM, epop_world());
    bool right = all[0] == n && all[1] == n * (n - 1) / 2;
    if (rank == 0)
        printf("particles: %lld of %lld %s after %lld iterations on %d ranks\n", (long long)all[0], (long long)n,
               right ? "right" : "wrong", (long long)s->p.step, size);
    return right ? 0 : 1;
}

static void release(void *data)
{
    swarm_t *s = data;
    MPI_Type_free(&s->type);
    free(s);
}

epop_program_t *get_program(void)
{
    epop_program_t *program = epop_program_create("particles");
    epop_add_init(program, "start", init);
    epop_add_elastic(program, "moves", move, epop_adapt_described, more);
    program->finalizer = epop_add_rigid(program, "report", report, NULL);
    epop_describe(program, describe);
    epop_release(program, release);
    return program;
}
