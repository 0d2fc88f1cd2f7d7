"""A terminal for tests: a command whose input, output and error are a pseudo-terminal, and all that it wrote there."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
import time


class Terminal:
    def __init__(self, space, command, rows=24, columns=100, env=None, limit=60):
        self.text, self.deadline, self._news = "", time.monotonic() + limit, threading.Condition()
        self._over = False
        self._master, slave = pty.openpty()
        self.resize(rows, columns)
        self.process = subprocess.Popen([str(word) for word in command], stdin=slave, stdout=slave, stderr=slave,
                                        cwd=space.directory, start_new_session=True,
                                        env=space.environment({"TERM": "xterm", **(env or {})}))
        os.close(slave)
        threading.Thread(target=self._collect, daemon=True).start()

    def resize(self, rows, columns):
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait_for(self, condition):
        """Until the condition holds for all text so far; the text."""
        with self._news:
            while not condition(self.text):
                left = self.deadline - time.monotonic()
                assert left > 0 and not self._over, f"not in time, or ended: {self.text!r}"
                self._news.wait(left)
            return self.text

    def wait(self):
        """The exit status, and all text."""
        status = self.process.wait(max(0, self.deadline - time.monotonic()))
        with self._news:
            self._news.wait_for(lambda: self._over, 5)
        return status, self.text

    def _collect(self):
        while True:
            try:
                data = os.read(self._master, 65536)
            except OSError:
                data = b""
            with self._news:
                self.text += data.decode(errors="replace")
                self._over = not data
                self._news.notify_all()
            if not data:
                return
