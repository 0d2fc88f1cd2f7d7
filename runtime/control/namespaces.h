/* PMIx's memory of the tools that have gone. In its progress thread. */
#ifndef EPOP_CONTROL_NAMESPACES_H
#define EPOP_CONTROL_NAMESPACES_H

/* That one has gone. */
void control_namespaces_gone(const char *nspace);
/* Frees what PMIx keeps of those that have been gone for some seconds. */
void control_namespaces_forget(void);

#endif
