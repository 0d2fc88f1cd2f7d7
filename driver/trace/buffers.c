/* The buffers of a directory, mapped: see merge.h. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/trace/lanes.h"
#include "driver/trace/merge.h"
#include "runtime/base/array.h"

/* The process may still run. From a first write on the pages of the header are ours: what was there by then counts. */
static void freeze(struct trace_header *buffer)
{
    volatile char *header = (volatile char *)buffer;
    for (size_t at = 0; at < sizeof *buffer; at += 512)
        header[at] = header[at];
}

static struct trace_header *map(const char *directory, const char *name)
{
    char path[4400];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    size_t size = fstat(file, &status) == 0 ? (size_t)status.st_size : 0;
    struct trace_header *buffer = MAP_FAILED;
    if (size >= sizeof *buffer)
        buffer = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    close(file);
    if (buffer == MAP_FAILED)
        return NULL;
    freeze(buffer);
    if (lanes_valid(buffer, size))
        return buffer;
    munmap(buffer, size);
    return NULL;
}

static int by_process(const void *left, const void *right)
{
    const struct trace_header *const *a = left, *const *b = right;
    return ((*a)->process > (*b)->process) - ((*a)->process < (*b)->process);
}

static void add(struct trace_buffers *all, struct trace_header *buffer)
{
    if (array_reserve(&all->buffers, &all->room, (size_t)all->count + 1, sizeof *all->buffers))
        munmap(buffer, buffer->size);
    else
        all->buffers[all->count++] = buffer;
}

void buffers_open(struct trace_buffers *all, const char *directory)
{
    struct dirent *entry;
    *all = (struct trace_buffers){.count = 0};
    DIR *entries = opendir(directory);
    while (entries && (entry = readdir(entries))) {
        if (strncmp(entry->d_name, TRACE_BUFFER_NAME, strlen(TRACE_BUFFER_NAME)))
            continue;
        struct trace_header *buffer = map(directory, entry->d_name);
        if (buffer)
            add(all, buffer);
    }
    if (entries)
        closedir(entries);
    if (all->count)
        qsort(all->buffers, (size_t)all->count, sizeof *all->buffers, by_process);
}

void buffers_close(struct trace_buffers *all)
{
    for (int i = 0; i < all->count; i++)
        munmap(all->buffers[i], all->buffers[i]->size);
    free(all->buffers);
    *all = (struct trace_buffers){.count = 0};
}
