/* The store of files. */
#include "runtime/checkpoint/store.h"

#include "runtime/checkpoint/behind.h"
#include "runtime/checkpoint/file.h"
#include "runtime/checkpoint/reading.h"
#include "runtime/checkpoint/slabs.h"

const struct store_table store_file = {
    .version = STORE_VERSION,
    .name = "file",
    .create = file_create,
    .write = slabs_write,
    .link = slabs_link,
    .commit = file_commit,
    .abandon = file_abandon,
    .open = reading_open,
    .reader = reading_reader,
    .close = reading_close,
    .create_behind = file_create_behind,
    .start = behind_start,
    .settle = behind_settle,
    .needs = reading_needs,
};
