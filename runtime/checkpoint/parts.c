/* Parts: see parts.h. Piece by piece, so that what is summed up is still in the cache when it is written. */
#include "runtime/checkpoint/parts.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/checkpoint/checksum.h"

#define PIECE (1 << 20) /* bytes, at least one element */

bool part_of_slab(struct part *part, const struct slab *slab)
{
    *part = (struct part){.first = slab->first, .count = slab->count, .data = slab->data};
    if (redist_element_of(slab->type, &part->element) || part->element.size <= 0)
        return false;
    return part->element.dense || part->element.size <= INT_MAX;
}

int64_t part_bytes(const struct part *part)
{
    return part->count * part->element.size;
}

int64_t part_place(const struct part *part)
{
    return part->offset + part->first * part->element.size;
}

/* ---- Bytes ------------------------------------------------------------------ */

int part_write_bytes(int fd, const char *bytes, int64_t count, int64_t offset)
{
    while (count > 0) {
        ssize_t written = pwrite(fd, bytes, count < INT_MAX ? (size_t)count : INT_MAX, offset);
        if (written < 0 && errno != EINTR)
            return errno;
        written = written < 0 ? 0 : written;
        bytes += written;
        count -= written;
        offset += written;
    }
    return 0;
}

static int read_bytes(int fd, char *bytes, int64_t count, int64_t offset)
{
    while (count > 0) {
        ssize_t got = pread(fd, bytes, count < INT_MAX ? (size_t)count : INT_MAX, offset);
        if (got == 0)
            return ENODATA;
        if (got < 0 && errno != EINTR)
            return errno;
        got = got < 0 ? 0 : got;
        bytes += got;
        count -= got;
        offset += got;
    }
    return 0;
}

/* ---- Pieces ----------------------------------------------------------------- */

static int64_t piece_elements(int64_t size)
{
    return size < PIECE ? PIECE / size : 1;
}

/* `bytes` bytes of the file's, from byte `at` of the part on. */
typedef int piece_fn(struct part *part, char *piece, int64_t at, int64_t bytes, void *context);

/* Between elements with gaps and `packed`. Counts are int, as pieces are small. */
static int pack(struct part *part, int64_t first, int64_t count, char *packed)
{
    int position = 0;
    char *from = part->data + first * part->element.extent;
    return MPI_Pack(from, (int)count, part->element.type, packed, (int)(count * part->element.size), &position,
                    MPI_COMM_SELF) == MPI_SUCCESS
               ? 0
               : EIO;
}

static int unpack(struct part *part, int64_t first, int64_t count, char *packed)
{
    int position = 0;
    char *to = part->data + first * part->element.extent;
    return MPI_Unpack(packed, (int)(count * part->element.size), &position, to, (int)count, part->element.type,
                      MPI_COMM_SELF) == MPI_SUCCESS
               ? 0
               : EIO;
}

/* before and after: pack or unpack, for elements with gaps. */
static int each_piece(struct part *part, piece_fn *take, void *context,
                      int (*before)(struct part *, int64_t, int64_t, char *),
                      int (*after)(struct part *, int64_t, int64_t, char *))
{
    int64_t size = part->element.size, most = piece_elements(size);
    char *packed = part->element.dense || !part->count ? NULL : malloc((size_t)(most * size));
    int failed = part->element.dense || !part->count || packed ? 0 : ENOMEM;
    for (int64_t at = 0; !failed && at < part->count; at += most) {
        int64_t now = part->count - at < most ? part->count - at : most;
        char *piece = packed ? packed : part->data + at * size;
        failed = packed && before ? before(part, at, now, packed) : 0;
        failed = failed ? failed : take(part, piece, at * size, now * size, context);
        failed = failed || !packed || !after ? failed : after(part, at, now, packed);
    }
    free(packed);
    return failed;
}

static void sum_up(struct part *part, const char *piece, int64_t at, int64_t bytes)
{
    int64_t size = part->element.size;
    part->sum += checksum_part(size, part->first * size + at, piece, (size_t)bytes);
}

static int write_piece(struct part *part, char *piece, int64_t at, int64_t bytes, void *context)
{
    sum_up(part, piece, at, bytes);
    return part_write_bytes(*(int *)context, piece, bytes, part_place(part) + at);
}

static int copy_piece(struct part *part, char *piece, int64_t at, int64_t bytes, void *context)
{
    sum_up(part, piece, at, bytes);
    memcpy((char *)context + at, piece, (size_t)bytes);
    return 0;
}

static int read_piece(struct part *part, char *piece, int64_t at, int64_t bytes, void *context)
{
    int failed = read_bytes(*(int *)context, piece, bytes, part_place(part) + at);
    if (!failed)
        sum_up(part, piece, at, bytes);
    return failed;
}

int part_write(struct part *part, int fd)
{
    return each_piece(part, write_piece, &fd, pack, NULL);
}

int part_copy(struct part *part, char *to)
{
    return each_piece(part, copy_piece, to, pack, NULL);
}

int part_read(struct part *part, int fd)
{
    return each_piece(part, read_piece, &fd, NULL, unpack);
}

int part_check(int fd, int64_t offset, int64_t size, int64_t first, int64_t count, uint64_t *sum)
{
    int64_t most = piece_elements(size);
    char *piece = malloc((size_t)(most * size));
    int failed = piece ? 0 : ENOMEM;
    for (int64_t at = first; !failed && at < first + count; at += most) {
        int64_t now = first + count - at < most ? first + count - at : most;
        failed = read_bytes(fd, piece, now * size, offset + at * size);
        *sum += failed ? 0 : checksum_part(size, at * size, piece, (size_t)(now * size));
    }
    free(piece);
    return failed;
}
