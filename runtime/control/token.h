/* The secret of a job, and the tickets made from it. */
#ifndef EPOP_CONTROL_TOKEN_H
#define EPOP_CONTROL_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/control/control.h"

/* 256 random bits as hex. 0, or -1 when the kernel has none to give. */
int control_token_make(char token[CONTROL_TOKEN_MAX]);
/* Does `token` stand somewhere in the bytes? Takes the same time wherever it stands. */
bool control_token_within(const char *token, const void *bytes, size_t size);

/*
 * A tool's namespace is its ticket: "epop-TOKEN-mPROCESS.SALT" for a member, "epop-TOKEN-cPID.SALT" for an epopctl.
 * Only who read the token from the address file (or got it from the job) can make one up. The salt tells a process
 * that attaches anew from its earlier self, whose loss may still be on its way.
 */
#define CONTROL_NSPACE_MAX 128
void control_nspace_member(char nspace[CONTROL_NSPACE_MAX], const char *token, int process);
void control_nspace_client(char nspace[CONTROL_NSPACE_MAX], const char *token);
/* 0 if the ticket carries the token; *process is the member's number, or -1 for an epopctl. */
int control_nspace_check(const char *nspace, const char *token, int *process);

#endif
