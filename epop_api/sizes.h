/* What the model's files and the runtime share about size rules. Internal. */
#ifndef EPOP_API_SIZES_H
#define EPOP_API_SIZES_H

#include "epop/program.h"

/* The name of a kind in JSON (schema/program.schema.json): "any", "multiple" ... Static. */
const char *size_kind_name(epop_size_kind kind);

#endif
