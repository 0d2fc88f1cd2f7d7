"""Other clients of a job's control plane, that come and go."""

import time

MOST = 3
COMMANDS = (["status"], ["status", "--json"], ["watch"], ["where"], ["list"])


class Clients:
    def __init__(self, space, rng):
        self.space, self.rng = space, rng
        self.present = []  # and when each is killed
        self.next = 0

    def step(self):
        now = time.monotonic()
        for client, end in self.present:
            if now > end:
                client.kill()
        self.present = [(client, end) for client, end in self.present if client.running()]
        if now > self.next and len(self.present) < MOST:
            client = self.space.start_epopctl(*self.rng.choice(COMMANDS), limit=1000)
            self.present.append((client, now + self.rng.choice([0.005, 0.05, 0.5, 2])))
            self.next = now + self.rng.uniform(0, 1)

    def close(self):
        for client, _ in self.present:
            client.kill()
        self.present = []
