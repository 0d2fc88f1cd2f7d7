/* Sockets between processes: see place.h. */
#include "runtime/ahead/place.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/random.h"
#include "runtime/wire/link.h"

static const char magic[8] = {'e', 'p', 'o', 'p', 'd', 'a', 't', 'a'};

/* The way to the control plane is one that the other processes have as well, so what leads there has the address. A
 * datagram socket finds it without a word to anybody. A job whose control plane is on no network is on one host. */
static int own_address(const char *uri, struct sockaddr_in *own)
{
    struct wire_target target;
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(9)};
    socklen_t size = sizeof *own;
    if (wire_target_of(uri, &target))
        return -1;
    server.sin_addr.s_addr = target.networked ? target.address.sin_addr.s_addr : htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    bool found = !connect(fd, (struct sockaddr *)&server, sizeof server) && !getsockname(fd, (void *)own, &size);
    close(fd);
    own->sin_port = 0;
    return found ? 0 : -1;
}

int place_open(struct place *place, const char *uri)
{
    socklen_t size = sizeof place->address;
    *place = (struct place){.fd = -1};
    if (own_address(uri, &place->address) || random_hex(place->secret, PLACE_SECRET / 2))
        return -1;
    place->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (place->fd >= 0 && !bind(place->fd, (struct sockaddr *)&place->address, sizeof place->address) &&
        !listen(place->fd, SOMAXCONN) && !getsockname(place->fd, (void *)&place->address, &size))
        return 0;
    place_close(place);
    return -1;
}

void place_close(struct place *place)
{
    if (place->fd >= 0)
        close(place->fd);
    place->fd = -1;
}

cJSON *place_to_json(const struct place *place)
{
    char address[INET_ADDRSTRLEN] = "";
    cJSON *json = cJSON_CreateObject();
    inet_ntop(AF_INET, &place->address.sin_addr, address, sizeof address);
    cJSON_AddStringToObject(json, "address", address);
    cJSON_AddNumberToObject(json, "port", ntohs(place->address.sin_port));
    cJSON_AddStringToObject(json, "secret", place->secret);
    return json;
}

int place_of(struct place *place, const struct shape_ahead_place *said)
{
    *place = (struct place){.fd = -1, .address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)said->port)}};
    snprintf(place->secret, sizeof place->secret, "%s", said->secret);
    return inet_pton(AF_INET, said->address, &place->address.sin_addr) == 1 ? 0 : -1;
}

static int tuned(int fd)
{
    int one = 1;
    if (fd >= 0)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

int place_go(const struct place *place)
{
    int fd = tuned(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd < 0)
        return -1;
    if (!connect(fd, (const struct sockaddr *)&place->address, sizeof place->address) || errno == EINPROGRESS)
        return fd;
    close(fd);
    return -1;
}

int place_unreachable(const struct place *place, int seconds, struct error *error)
{
    char address[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, &place->address.sin_addr, address, sizeof address);
    return error_set(error, ERROR_TIMEOUT, "no connection to %s, port %d, within %d s; is there a firewall?", address,
                     ntohs(place->address.sin_port), seconds);
}

int place_accept(const struct place *place)
{
    return tuned(accept4(place->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

struct place_hello place_hello(const struct place *place, int adaptation, int from, uint64_t cargo)
{
    struct place_hello hello = {.cargo = cargo, .adaptation = (uint32_t)adaptation, .from = (uint32_t)from};
    memcpy(hello.magic, magic, sizeof magic);
    memcpy(hello.secret, place->secret, sizeof hello.secret);
    return hello;
}

int place_knows(const struct place *place, int adaptation, const struct place_hello *hello)
{
    return !memcmp(hello->magic, magic, sizeof magic) && !memcmp(hello->secret, place->secret, sizeof hello->secret) &&
           hello->adaptation == (uint32_t)adaptation;
}
