/*
 * Parts of checkpoints in memory: their directories and files, and their heads, each a JSON object, a zero byte, the
 * values and a checksum.
 */
#include "runtime/checkpoint/memory_part.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/json.h"
#include "runtime/checkpoint/format.h"
#include "runtime/control/rundir.h"

/* ---- Directories and files ---------------------------------------------------------------------- */

#define UNFINISHED ".part"

static const char nothing[1];

static void part_path(char path[MEMORY_PATH], const char *directory, const struct memory_part *part, const char *ending,
                      const char *file)
{
    snprintf(path, MEMORY_PATH, "%.400s/%d-%d-%d%s%s", directory, part->number, part->rank, part->size, ending, file);
}

static int refuse_path(struct error *error, const char *path)
{
    if (errno == ENOSPC || errno == ENOMEM)
        return error_set(error, ERROR_FAILED, "no room for a checkpoint in memory: %s is full", path);
    return error_set(error, ERROR_FAILED, "a checkpoint in memory: %s: %s", path, strerror(errno));
}

int memory_part_begin(const char *directory, const struct memory_part *part, struct error *error)
{
    char path[MEMORY_PATH];
    if (control_rundir_make(directory, error))
        return -1;
    part_path(path, directory, part, UNFINISHED, "");
    if (!mkdir(path, 0700))
        return 0;
    if (errno == EEXIST) { /* of one that was killed while it wrote */
        control_rundir_remove(path);
        return mkdir(path, 0700) ? refuse_path(error, path) : 0;
    }
    return refuse_path(error, path);
}

static void name_slab(char name[24], int slab)
{
    snprintf(name, 24, "/%d", slab);
}

/* The memory is there, or it is said that it is not: a write into a page that cannot be had would be a SIGBUS. */
static void *map_new(int fd, int64_t bytes)
{
    int failed = posix_fallocate(fd, 0, bytes);
    if (failed) {
        errno = failed;
        return NULL;
    }
    void *map = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return map == MAP_FAILED ? NULL : map;
}

void *memory_part_make(const char *directory, const struct memory_part *part, int slab, int64_t bytes,
                       struct error *error)
{
    char path[MEMORY_PATH], name[24];
    name_slab(name, slab);
    part_path(path, directory, part, UNFINISHED, name);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    void *map = fd < 0 ? NULL : bytes ? map_new(fd, bytes) : (void *)nothing;
    if (!map)
        refuse_path(error, path);
    if (fd >= 0)
        close(fd);
    return map;
}

int memory_part_link(const char *directory, const struct memory_part *part, int slab,
                     const struct memory_part *complete, int complete_slab)
{
    char from[MEMORY_PATH], to[MEMORY_PATH], name[24];
    name_slab(name, complete_slab);
    part_path(from, directory, complete, "", name);
    name_slab(name, slab);
    part_path(to, directory, part, UNFINISHED, name);
    return link(from, to);
}

void memory_part_drop(const char *directory, const struct memory_part *part, int slab)
{
    char path[MEMORY_PATH], name[24];
    name_slab(name, slab);
    part_path(path, directory, part, UNFINISHED, name);
    unlink(path);
}

const void *memory_part_map(const char *directory, const struct memory_part *part, int slab, int64_t bytes,
                            struct error *error)
{
    char path[MEMORY_PATH], name[24];
    struct stat status;
    const void *map = NULL;
    name_slab(name, slab);
    part_path(path, directory, part, "", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status))
        refuse_path(error, path);
    else if (status.st_size != bytes)
        error_set(error, ERROR_FAILED, "a checkpoint in memory: %s has %lld bytes instead of %lld", path,
                  (long long)status.st_size, (long long)bytes);
    else if (!bytes)
        map = nothing;
    else if ((map = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0)) == MAP_FAILED) {
        map = NULL;
        refuse_path(error, path);
    }
    if (fd >= 0)
        close(fd);
    return map;
}

void memory_part_unmap(const void *map, int64_t bytes)
{
    if (map && bytes)
        munmap((void *)map, (size_t)bytes);
}

/* ---- Files: the head ---------------------------------------------------------------------------- */

int memory_part_write_head(const char *directory, const struct memory_part *part, const char *bytes, size_t size,
                           struct error *error)
{
    char path[MEMORY_PATH];
    part_path(path, directory, part, UNFINISHED, "/head");
    FILE *file = fopen(path, "wxe");
    bool written = file && fwrite(bytes, 1, size, file) == size;
    if (file && fclose(file))
        written = false;
    return written ? 0 : refuse_path(error, path);
}

char *memory_part_read_head(const char *directory, const struct memory_part *part, size_t *size, struct error *error)
{
    char path[MEMORY_PATH];
    struct stat status;
    part_path(path, directory, part, "", "/head");
    FILE *file = fopen(path, "re");
    char *bytes = file && !fstat(fileno(file), &status) ? calloc(1, (size_t)status.st_size + 1) : NULL;
    *size = bytes ? fread(bytes, 1, (size_t)status.st_size, file) : 0;
    if (!bytes)
        refuse_path(error, path);
    if (file)
        fclose(file);
    return bytes;
}

/* ---- Directories: which there are --------------------------------------------------------------- */

int memory_part_complete(const char *directory, const struct memory_part *part, struct error *error)
{
    char from[MEMORY_PATH], to[MEMORY_PATH];
    part_path(from, directory, part, UNFINISHED, "");
    part_path(to, directory, part, "", "");
    return rename(from, to) ? refuse_path(error, to) : 0;
}

void memory_part_abandon(const char *directory, const struct memory_part *part)
{
    char path[MEMORY_PATH];
    part_path(path, directory, part, UNFINISHED, "");
    control_rundir_remove(path);
    part_path(path, directory, part, "", "");
    control_rundir_remove(path);
}

/* Is it one? *complete: without the ending. */
static bool read_name(const char *name, struct memory_part *part, bool *complete)
{
    int used = 0;
    if (sscanf(name, "%d-%d-%d%n", &part->number, &part->rank, &part->size, &used) != 3)
        return false;
    *complete = !name[used];
    return *complete || !strcmp(name + used, UNFINISHED);
}

int memory_parts_list(const char *directory, struct memory_part **parts)
{
    struct dirent *entry;
    struct memory_part part;
    size_t room = 0;
    int count = 0;
    bool complete;
    DIR *entries = opendir(directory);
    *parts = NULL;
    while (entries && count >= 0 && (entry = readdir(entries)))
        if (read_name(entry->d_name, &part, &complete) && complete) {
            if (array_reserve(parts, &room, (size_t)count + 1, sizeof part))
                count = -1;
            else
                (*parts)[count++] = part;
        }
    if (entries)
        closedir(entries);
    return count;
}

void memory_parts_remove_others(const char *directory, int number)
{
    struct dirent *entry;
    struct memory_part part;
    char path[MEMORY_PATH + 256];
    bool complete;
    DIR *entries = opendir(directory);
    while (entries && (entry = readdir(entries)))
        if (read_name(entry->d_name, &part, &complete) && part.number != number) {
            snprintf(path, sizeof path, "%.400s/%.255s", directory, entry->d_name);
            control_rundir_remove(path);
        }
    if (entries)
        closedir(entries);
}

/* ---- What is in a part -------------------------------------------------------------------------- */

int memory_table_add(struct memory_table *table, const struct memory_slab *slab)
{
    if (array_reserve(&table->slabs, &table->room, (size_t)table->count + 1, sizeof *slab))
        return -1;
    table->slabs[table->count++] = *slab;
    return 0;
}

void memory_table_free(struct memory_table *table)
{
    free(table->slabs);
    *table = (struct memory_table){0};
}

/* ---- What is in a part: numbers of any size (JSON has those of a double) ------------------------ */

static void add_int64(cJSON *json, const char *name, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    cJSON_AddStringToObject(json, name, text);
}

static int64_t get_int64(const cJSON *json, const char *name)
{
    const char *text = json_text(json, name);
    return text ? strtoll(text, NULL, 10) : -1;
}

/* ---- What is in a part: packing ----------------------------------------------------------------- */

static cJSON *slab_json(const struct memory_slab *slab)
{
    cJSON *json = cJSON_CreateObject(), *extent = cJSON_AddArrayToObject(json, "extent");
    cJSON_AddStringToObject(json, "name", slab->name);
    for (int i = 0; i < slab->dims; i++) {
        cJSON *one = cJSON_CreateObject();
        add_int64(one, "n", slab->extent[i]);
        cJSON_AddItemToArray(extent, one);
    }
    add_int64(json, "bytes", slab->bytes);
    add_int64(json, "first", slab->first);
    add_int64(json, "count", slab->count);
    add_int64(json, "checksum", (int64_t)slab->checksum);
    return json;
}

static cJSON *memory_head_json(const struct checkpoint_head *head, const struct memory_table *table)
{
    cJSON *json = cJSON_CreateObject(), *slabs = cJSON_AddArrayToObject(json, "slabs");
    cJSON_AddNumberToObject(json, "format", CHECKPOINT_FORMAT);
    cJSON_AddStringToObject(json, "program", head->program ? head->program : "");
    cJSON_AddStringToObject(json, "structure", head->structure ? head->structure : "");
    cJSON_AddStringToObject(json, "arguments", head->arguments ? head->arguments : "");
    position_to_json(&head->at, json);
    cJSON_AddNumberToObject(json, "size", head->size);
    cJSON_AddNumberToObject(json, "number", head->number);
    cJSON_AddNumberToObject(json, "restarts", head->restarts);
    cJSON_AddNumberToObject(json, "time", head->time);
    add_int64(json, "value_bytes", (int64_t)head->value_bytes);
    for (int i = 0; i < table->count; i++)
        cJSON_AddItemToArray(slabs, slab_json(&table->slabs[i]));
    return json;
}

char *memory_head_pack(const struct checkpoint_head *head, const struct memory_table *table, size_t *size)
{
    cJSON *json = memory_head_json(head, table);
    char *text = json ? cJSON_PrintUnformatted(json) : NULL;
    size_t length = text ? strlen(text) + 1 : 0;
    char *bytes = text ? malloc(length + head->value_bytes + sizeof(uint64_t)) : NULL;
    if (bytes) {
        memcpy(bytes, text, length);
        if (head->value_bytes)
            memcpy(bytes + length, head->values, head->value_bytes);
        *size = length + head->value_bytes;
        const uint64_t checksum = checksum_part(1, 0, bytes, *size);
        memcpy(bytes + *size, &checksum, sizeof checksum);
        *size += sizeof checksum;
    }
    cJSON_free(text);
    cJSON_Delete(json);
    return bytes;
}

/* ---- What is in a part: checksums --------------------------------------------------------------- */

uint64_t memory_slab_checksum(const struct memory_slab *slab, const void *bytes)
{
    return checksum_part(slab->bytes, 0, bytes, (size_t)(slab->count * slab->bytes));
}

int memory_head_verify(const char *bytes, size_t *size)
{
    uint64_t checksum;
    if (*size < sizeof checksum)
        return -1;
    memcpy(&checksum, bytes + *size - sizeof checksum, sizeof checksum);
    if (checksum_part(1, 0, bytes, *size - sizeof checksum) != checksum)
        return -1;
    *size -= sizeof checksum;
    return 0;
}

static int check_slab(const char *directory, const struct memory_part *part, int index, const struct memory_slab *slab,
                      struct error *error)
{
    int64_t bytes = slab->count * slab->bytes;
    const void *map = memory_part_map(directory, part, index, bytes, error);
    bool same = map && memory_slab_checksum(slab, map) == slab->checksum;
    memory_part_unmap(map, bytes);
    if (map && !same)
        error_set(error, ERROR_REFUSED, "%s/%d-%d-%d: '%.200s' is not what was written (checksum)", directory,
                  part->number, part->rank, part->size, slab->name);
    return same ? 0 : -1;
}

int memory_head_read_table(const char *directory, const struct memory_part *part, struct memory_table *table,
                           struct error *error)
{
    size_t size = 0;
    char *bytes = memory_part_read_head(directory, part, &size, error);
    int result = bytes ? 0 : -1;
    if (bytes && memory_head_verify(bytes, &size))
        result = error_set(error, ERROR_REFUSED, "%s/%d-%d-%d: its head is not what was written (checksum)", directory,
                           part->number, part->rank, part->size);
    if (!result)
        result = memory_head_unpack(bytes, size, NULL, table, error);
    free(bytes);
    return result;
}

int memory_head_check_part(const char *directory, const struct memory_part *part, struct error *error)
{
    struct memory_table table = {0};
    int result = memory_head_read_table(directory, part, &table, error);
    for (int i = 0; !result && i < table.count; i++)
        result = check_slab(directory, part, i, &table.slabs[i], error);
    memory_table_free(&table);
    return result;
}

/* ---- What is in a part: unpacking --------------------------------------------------------------- */

static char *copy_member(const cJSON *json, const char *name)
{
    const char *text = json_text(json, name);
    return text ? strdup(text) : NULL;
}

static int read_row(const cJSON *json, struct memory_table *table)
{
    struct memory_slab slab = {.bytes = get_int64(json, "bytes"),
                               .first = get_int64(json, "first"),
                               .count = get_int64(json, "count"),
                               .checksum = (uint64_t)get_int64(json, "checksum")};
    const cJSON *one;
    const char *name = json_text(json, "name");
    cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(json, "extent"))
    {
        if (slab.dims == SLAB_DIMS)
            return -1;
        slab.extent[slab.dims++] = get_int64(one, "n");
    }
    snprintf(slab.name, sizeof slab.name, "%s", name ? name : "");
    return slab.bytes < 1 || slab.first < 0 || slab.count < 0 ? -1 : memory_table_add(table, &slab);
}

static int read_table(const cJSON *json, struct memory_table *table)
{
    const cJSON *slab;
    cJSON_ArrayForEach(slab, cJSON_GetObjectItemCaseSensitive(json, "slabs"))
    {
        if (read_row(slab, table))
            return -1;
    }
    return json_int(json, "format", 0) == CHECKPOINT_FORMAT ? 0 : -1;
}

/* The values follow it. */
static int read_head(const cJSON *json, const char *values, size_t size, struct checkpoint_head *head)
{
    *head = (struct checkpoint_head){.format = CHECKPOINT_FORMAT,
                                     .program = copy_member(json, "program"),
                                     .structure = copy_member(json, "structure"),
                                     .arguments = copy_member(json, "arguments"),
                                     .at = position_from_json(json),
                                     .size = json_int(json, "size", 0),
                                     .number = json_int(json, "number", 0),
                                     .restarts = json_int(json, "restarts", 0),
                                     .time = json_number(json, "time", 0),
                                     .values = malloc(size + 1),
                                     .value_bytes = size};
    if (head->values)
        memcpy(head->values, values, size);
    bool whole = get_int64(json, "value_bytes") == (int64_t)size;
    struct error unheard;
    if (whole && head->program && head->structure && head->arguments && head->values &&
        !checkpoint_head_check(head, &unheard))
        return 0;
    checkpoint_head_free(head);
    return -1;
}

int memory_head_unpack(const char *bytes, size_t size, struct checkpoint_head *head, struct memory_table *table,
                       struct error *error)
{
    size_t length = strnlen(bytes, size) + 1;
    cJSON *json = length <= size ? cJSON_Parse(bytes) : NULL;
    int result = json ? read_table(json, table) : -1;
    if (!result && head)
        result = read_head(json, bytes + length, size - length, head);
    cJSON_Delete(json);
    return result ? error_set(error, ERROR_FAILED, "a checkpoint in memory is damaged, or of another version of EPOP")
                  : 0;
}
