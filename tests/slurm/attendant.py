#!/usr/bin/env python3
"""attendant.py HOST:PORT JOB [OPTIONS]: greets the adviser as lib/epop/attend does, by munge's commands, and says what it was
answered: for those that must not be believed."""

import argparse
import json
import os
import secrets
import socket
import subprocess
import sys


def munge(text, reader, path):
    return subprocess.run(["munge", "--socket", path, "--restrict-uid", str(reader), "--ttl", "60"], input=text.encode(),
                          stdout=subprocess.PIPE, check=True).stdout.decode().strip()


def unmunge(credential, path):
    done = subprocess.run(["unmunge", "--socket", path], input=credential.encode(), stdout=subprocess.PIPE, check=True)
    head, _, payload = done.stdout.decode().partition("\n\n")
    uid = next(line.split("(")[1].rstrip(")") for line in head.splitlines() if line.startswith("UID"))
    return payload.rstrip("\n"), int(uid)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("job", type=int)
    parser.add_argument("--uid", type=int, default=os.geteuid())
    parser.add_argument("--munge", default=os.environ.get("EPOP_MUNGE_SOCKET", "/run/munge/munge.socket.2"))
    parser.add_argument("--twist", choices=["nonce"], help="prove something else")
    parser.add_argument("--blind", action="store_true", help="do not read the adviser's credential; it is root's")
    given = parser.parse_args()
    host, port = given.address.rsplit(":", 1)
    connection = socket.create_connection((host, int(port)), timeout=60)
    stream = connection.makefile("rw")

    def send(line):
        stream.write(json.dumps(line) + "\n")
        stream.flush()

    def hear():
        line = stream.readline()
        return json.loads(line) if line else {"refused": "closed"}

    nonce = secrets.token_hex(16)
    send({"attend": 1, "job": given.job, "uid": given.uid, "nonce": nonce})
    answer = hear()
    if "refused" in answer:
        sys.exit(f"refused: {answer['refused']}")
    text, uid = (None, 0) if given.blind else unmunge(answer["credential"], given.munge)
    peer = connection.getpeername()
    assert given.blind or text.replace("::ffff:", "") == f"epop-adviser {nonce} {peer[0]} {peer[1]}", (text, peer)
    said = "0" * 32 if given.twist == "nonce" else answer["nonce"]
    send({"credential": munge(f"epop-attend {said} {given.job}", uid, given.munge)})
    answer = hear()
    if "refused" in answer:
        sys.exit(f"refused: {answer['refused']}")
    print(f"welcome by uid {uid}")


main()
