"""Servers as processes and clients that load them, on the loopback address. Standard library only."""

import asyncio
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

TICKS = os.sysconf("SC_CLK_TCK")
BROKEN, NOBODY = 0, -1  # instead of a status: the connection broke, nobody listens


class Process:
    """A process that prints a line with its port when it is ready."""

    def __init__(self, words, mark, env=None):
        self.log = tempfile.TemporaryFile("w+b")  # pylint: disable=consider-using-with
        began = time.perf_counter()
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [str(word) for word in words], stderr=self.log, stdout=self.log, env=env and {**os.environ, **env})
        self.port = self.wait_for(mark)
        self.seconds_to_start = time.perf_counter() - began

    def said(self):
        """What it has printed."""
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def wait_for(self, mark):
        """The port at the end of the line with a mark."""
        while True:
            for line in self.said().splitlines(keepends=True):
                if mark in line and line.endswith("\n"):
                    return int("".join(c for c in line.rsplit(":", 1)[1] if c.isdigit()))
            assert self.process.poll() is None, self.said()
            time.sleep(0.02)

    def cpu_seconds(self):
        """The processor time of all of its threads."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def megabytes(self, which="VmRSS"):
        """Its memory now; VmHWM: the most it has had."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return next(int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith(which))

    def end(self):
        """Ends it; its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(60)


def heed_server(heed, model, *flags, log="/dev/null"):
    """`heed serve` with one translator."""
    return Process([heed, "serve", "--port=0", "--model", f"en-fr={model}", f"--access-log={log}",
                    "--connections-per-address=8000", *flags], "serving ")


def request_of(sentence, path="/translate", **more):
    """The bytes of one request."""
    body = json.dumps({"q": sentence, "source": "en", "target": "fr", **more} if path == "/translate" else more).encode()
    return b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        path.encode(), len(body), body)


async def exchange(reader, writer, data):
    """Sends a request; the status and the body of its answer, and whether another may follow."""
    writer.write(data)
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    body = await reader.readexactly(int(head.split("content-length: ")[1].split("\r\n")[0]))
    return int(head.split()[1]), body, "connection: close" not in head


class Load:
    """Clients that share a list of requests until the time is over. Each sends one, waits for the answer and sends the
    next."""

    def __init__(self, port, requests, pause=0.05):
        self.port, self.requests, self.pause, self.next = port, requests, pause, 0
        self.times = {}   # of answers, by status
        self.bodies = {}  # of whole answers, by the number of the request
        self.ended = []   # when answers came

    async def client(self, until):
        """One client, which connects again if the connection breaks."""
        writer = None
        while time.perf_counter() < until:
            number = self.next % len(self.requests)
            self.next += 1
            began = time.perf_counter()
            try:
                if writer is None:
                    reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                    began = time.perf_counter()
                status, body, stays = await exchange(reader, writer, self.requests[number])
                if not stays:
                    writer.close()
                    writer = None
            except ConnectionRefusedError:
                status, body = NOBODY, b""
            except (OSError, asyncio.IncompleteReadError):
                status, body, writer = BROKEN, b"", None
            now = time.perf_counter()
            self.times.setdefault(status, []).append(now - began)
            if status == 200:
                self.ended.append(now)
                self.bodies.setdefault(number, set()).add(body)
            else:
                await asyncio.sleep(self.pause)
        if writer:
            writer.close()

    async def run(self, clients, seconds):
        """Whole answers per second of so many clients."""
        began = time.perf_counter()
        before = len(self.ended)
        await asyncio.gather(*(self.client(began + seconds) for _ in range(clients)))
        return (len(self.ended) - before) / (time.perf_counter() - began)


def quantiles(times):
    """p50, p95 and p99 in milliseconds."""
    if len(times) < 2:
        return [1000 * t for t in times] * 3 or [float("nan")] * 3
    cuts = statistics.quantiles(times, n=100)
    return [1000 * cuts[i] for i in (49, 94, 98)]
