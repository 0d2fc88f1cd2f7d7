/*
 * Who may talk, over a network: whoever knows the token. It never travels. Each end makes a challenge, and answers the
 * other's with a code over both challenges (HMAC-SHA-512-256, libsodium's crypto_auth): so an answer cannot be used
 * again.
 */
#ifndef EPOP_WIRE_PROOF_H
#define EPOP_WIRE_PROOF_H

#include <stdbool.h>

#define PROOF_TOKEN_MAX 65 /* 256 random bits as hex; a token may be shorter */
#define PROOF_MAX       65 /* a challenge, and a code, as hex */

enum proof_end { PROOF_CLIENT, PROOF_SERVER };

/* A token, or a challenge. 0, or -1 when the kernel has no random numbers to give. */
int proof_random(char text[PROOF_MAX]);

/* What this end shows, who knows the token. `about`: what else it says of itself, and both ends know. */
void proof_make(char code[PROOF_MAX], const char *token, enum proof_end end, const char *client, const char *server,
                const char *about);

/* Is it the same as what was shown? Takes the same time wherever they differ. shown may be NULL. */
bool proof_is(const char code[PROOF_MAX], const char *shown);

#endif
