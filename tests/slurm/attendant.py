#!/usr/bin/env python3
"""attendant.py HOST:PORT JOB [--uid UID] [--munge SOCKET]: one end of a conversation with the adviser, by hand: shows who it is, by munge's
commands, and then passes the adviser's requests on to `epopctl`, as lib/epop/attend does over the control plane."""

import argparse
import json
import os
import secrets
import socket
import subprocess
import sys
import threading


def munge(text, reader, path):
    return subprocess.run(["munge", "--socket", path, "-U", str(reader), "--ttl", "60"], input=text.encode(),
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
    parser.add_argument("--twist", choices=("nonce", "replay"))
    given = parser.parse_args()
    host, port = given.address.rsplit(":", 1)
    connection = socket.create_connection((host, int(port)), timeout=20)
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
    text, uid = unmunge(answer["credential"], given.munge)
    peer = connection.getpeername()
    assert text == f"epop-adviser {nonce} {peer[0]} {peer[1]}" or text == f"epop-adviser {nonce} ::ffff:{peer[0]} {peer[1]}", (text, peer)
    said = "0" * 32 if given.twist == "nonce" else answer["nonce"]
    send({"credential": munge(f"epop-attend {said} {given.job}", uid, given.munge)})
    answer = hear()
    if "refused" in answer:
        sys.exit(f"refused: {answer['refused']}")
    print(f"welcome by uid {uid}", flush=True)
    connection.settimeout(None)
    lock = threading.Lock()
    send({"event": "hello", "version": 1, "state": "running", "attached": True, "asked": [], "ended": None})

    def ask(line):
        request = line["request"]
        print(line, flush=True)
        if request["op"] == "status":
            words = ["status", "--json"]
        elif request["op"] == "measure":
            words = ["measure", "--json"]
        else:
            words = ["resize", "--wait", "--json"]
            words += [f"{request['delta']:+d}", "--hosts", request["add_hosts"]] if "add_hosts" in request else ["--release", request["release_hosts"]]
        done = subprocess.run(["epopctl", *words], capture_output=True, text=True, check=False)
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            answer = {"ok": False, "code": "failed", "reason": (done.stdout + done.stderr).strip()}
        if request["op"] in ("status", "measure") and "ok" not in answer:
            answer = {"ok": True, "code": "done", {"status": "job"}.get(request["op"], "measure"): answer}
        if request["op"] == "resize":
            print(done.stdout, done.stderr, flush=True)
        with lock:
            send({"id": line["id"], "answer": answer})

    while True:
        line = hear()
        if "refused" in line:
            sys.exit("the adviser has gone")
        if line["do"] == "ask":
            threading.Thread(target=ask, args=(line,), daemon=True).start()


main()
