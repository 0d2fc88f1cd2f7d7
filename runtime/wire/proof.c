/* Challenge and response: see proof.h. */
#include "runtime/wire/proof.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/random.h"

int proof_random(char text[PROOF_MAX])
{
    return random_hex(text, (PROOF_MAX - 1) / 2);
}

/* The token as a key, whatever its length. */
static void make_key(unsigned char key[crypto_auth_KEYBYTES], const char *token)
{
    crypto_generichash(key, crypto_auth_KEYBYTES, (const unsigned char *)token, strlen(token), NULL, 0);
}

void proof_make(char code[PROOF_MAX], const char *token, enum proof_end end, const char *client, const char *server,
                const char *about)
{
    unsigned char key[crypto_auth_KEYBYTES], mac[crypto_auth_BYTES];
    char text[4 * PROOF_MAX + 256];
    int length = snprintf(text, sizeof text, "epop %s %.64s %.64s %.200s", end == PROOF_CLIENT ? "client" : "server",
                          client, server, about);
    make_key(key, token);
    crypto_auth(mac, (const unsigned char *)text, (unsigned long long)length, key);
    sodium_bin2hex(code, PROOF_MAX, mac, sizeof mac);
    sodium_memzero(key, sizeof key);
}

bool proof_is(const char code[PROOF_MAX], const char *shown)
{
    return shown && strlen(shown) == strlen(code) && !sodium_memcmp(code, shown, strlen(code));
}
