/* A connection by way of this process, to a peer that is this process too. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/backends/detour.h"

#define LATE 2500000 /* microseconds: later than any limit for connecting to a peer */

struct peer {
    int listener, connection;
    char port[128];
};

static struct peer peer_begin(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    struct peer peer = {.listener = socket(AF_INET, SOCK_STREAM, 0)};
    assert_int_equal(bind(peer.listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(peer.listener, 1), 0);
    getsockname(peer.listener, (struct sockaddr *)&address, &size);
    snprintf(peer.port, sizeof peer.port, "tag#0$port#%d$description#127.0.0.1$ifname#127.0.0.1$",
             ntohs(address.sin_port));
    return peer;
}

static int connect_to(const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    address.sin_port = htons((uint16_t)atoi(strstr(port, "port#") + 5));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* Sets up the detour, waits, and connects through it. */
static int through(struct peer *peer, unsigned wait)
{
    char here[256];
    struct error error;
    assert_int_equal(detour_begin(peer->port, here, sizeof here, &error), 0);
    peer->connection = accept(peer->listener, NULL, NULL);
    usleep(wait);
    return connect_to(here);
}

static void assert_passes(int from, int to)
{
    char data[8] = "";
    assert_int_equal(write(from, "hello", 6), 6);
    assert_int_equal(read(to, data, sizeof data), 6);
    assert_string_equal(data, "hello");
}

static void assert_ends(int fd)
{
    char data;
    assert_int_equal(read(fd, &data, 1), 0);
    close(fd);
}

static void test_both_ways(void **state)
{
    (void)state;
    struct peer peer = peer_begin();
    int fd = through(&peer, 0);
    assert_passes(fd, peer.connection);
    assert_passes(peer.connection, fd);
    close(fd);
    assert_ends(peer.connection);
    close(peer.listener);
}

/* In MPI's connect a rank that comes late holds up the one that connects. Refused, it would be an error of the job. */
static void test_late(void **state)
{
    (void)state;
    struct peer peer = peer_begin();
    int fd = through(&peer, LATE);
    assert_passes(fd, peer.connection);
    close(peer.connection);
    assert_ends(fd);
    close(peer.listener);
}

/* The peer was given up meanwhile. */
static void test_late_for_a_peer_that_is_gone(void **state)
{
    (void)state;
    char here[256];
    struct error error;
    struct linger reset = {.l_onoff = 1};
    struct peer peer = peer_begin();
    assert_int_equal(detour_begin(peer.port, here, sizeof here, &error), 0);
    peer.connection = accept(peer.listener, NULL, NULL);
    setsockopt(peer.connection, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(peer.connection);
    usleep(LATE);
    assert_ends(connect_to(here));
    close(peer.listener);
}

static void test_nobody_there(void **state)
{
    (void)state;
    char here[256];
    struct error error;
    struct peer peer = peer_begin();
    close(peer.listener);
    assert_int_equal(detour_begin(peer.port, here, sizeof here, &error), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_late_for_a_peer_that_is_gone),
        cmocka_unit_test(test_nobody_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
