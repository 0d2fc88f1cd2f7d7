/* epop --capabilities: what the MPI library of this build can do, found by trying, and the backend that follows. */
#ifndef DRIVER_CAPABILITIES_H
#define DRIVER_CAPABILITIES_H

/* Prints a table, or JSON by schema/capabilities.schema.json. 0, or -1 after a line on stderr. */
int capabilities_print(int as_json);

#endif
