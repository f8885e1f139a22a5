#!/usr/bin/env python3
"""What clients of `heed serve` notice of slow clients, overload, signals, guessed keys and company.

    hostile.py HEED MODEL SENTENCES [slow overload signals keys company] [--seconds 20] [--quantize int8]

Without names, all. Each part prints what it has measured and fails if a promise is broken. All traffic stays on the
loopback address and every loop ends.
"""

import argparse
import asyncio
import http.client
import json
import multiprocessing
import pathlib
import random
import signal
import socket
import statistics
import subprocess
import tempfile
import time

from clients import BROKEN, NOBODY, Load, heed_server, quantiles, request_of

IDLE, DRIPPING, DEAF = 2000, 500, 100
TRIES = 100_000


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("heed")
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("sentences", type=pathlib.Path)
    parser.add_argument("parts", nargs="*", default=["company", "slow", "overload", "signals", "keys"])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--quantize", default="int8")
    return parser.parse_args()


def start(given, *flags, **options):
    """A server."""
    return heed_server(given.heed, given.model, "--quantize", given.quantize, "--beam-size=1", *flags, **options)


# ---- slow clients --------------------------------------------------------------------------------------------------------


async def drip(writer):
    """A byte a second of a request that never ends."""
    try:
        for byte in b"POST /translate HTTP/1.1\r\nHost: x\r\nX-Slow: " + b"a" * 600:
            writer.write(bytes([byte]))
            await asyncio.sleep(1)
    except OSError:
        pass


def deaf_connection(port):
    """A client that asks for the page many times and reads nothing."""
    one = socket.create_connection(("127.0.0.1", port))
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    one.setblocking(False)
    one.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 200)
    return one


async def slow_clients(port):
    """All of them, and the tasks that keep them going."""
    held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(IDLE + DRIPPING)]
    deaf = [deaf_connection(port) for _ in range(DEAF)]
    return held, deaf, [asyncio.ensure_future(drip(writer)) for _, writer in held[IDLE:]]


def slow(given, requests):
    """Times of 16 clients with and without the slow ones, in turn."""
    server = start(given, "--header-seconds=600", "--idle-seconds=600", "--write-seconds=600")

    async def run():
        times = {False: [], True: []}
        await Load(server.port, requests).run(16, 2)
        for _ in range(3):
            for is_disturbed in (False, True):
                disturbers = await slow_clients(server.port) if is_disturbed else None
                load = Load(server.port, requests)
                await load.run(16, given.seconds / 3)
                assert set(load.times) == {200}, load.times.keys()
                times[is_disturbed] += load.times[200]
                if disturbers:
                    held, deaf, tasks = disturbers
                    for task in tasks:
                        task.cancel()
                    for _, writer in held:
                        writer.close()
                    for one in deaf:
                        one.close()
                    await asyncio.sleep(1)
        return times

    times = asyncio.run(run())
    alone, beside = quantiles(times[False]), quantiles(times[True])
    print(f"slow: 16 clients alone p50 {alone[0]:.0f} ms, p99 {alone[2]:.0f} ms; beside {IDLE} idle, {DRIPPING} dripping and "
          f"{DEAF} deaf connections p50 {beside[0]:.0f} ms, p99 {beside[2]:.0f} ms: {beside[2] / alone[2]:.2f} times; "
          f"{server.megabytes('VmHWM')} MB")
    assert server.end() == 0


# ---- overload ------------------------------------------------------------------------------------------------------------


def overload(given, requests):
    """Ten times as many requests as are answered, with a queue of 64."""
    with tempfile.TemporaryDirectory() as folder:
        overload_logged(given, requests, pathlib.Path(folder) / "log")


def probe(port, sentence, seconds, results):
    """A client in a process of its own, whose times are not those of a thousand clients in one process: its requests, one
    after another with pauses, most of them refused."""
    body = json.dumps({"q": sentence, "source": "en", "target": "fr"})
    line, times, end = http.client.HTTPConnection("127.0.0.1", port), [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter()
        line.request("POST", "/translate", body, {"Content-Type": "application/json"})
        answer = line.getresponse()
        answer.read()
        if answer.status in (429, 503):
            times.append(time.perf_counter() - began)
        time.sleep(0.02)
    results.put(times)


def overload_logged(given, requests, log):
    """Refusals are timed by a client of its own, by the crowd, which waits for a processor too, and by the server's log."""
    server = start(given, "--queue=64", "--requests-per-client=5000", log=log)

    async def run():
        load = Load(server.port, requests)
        await load.run(64, 3)
        cpu = [server.cpu_seconds()]
        best = await load.run(64, given.seconds)
        cpu.append(server.cpu_seconds())
        before = server.megabytes()
        clients = 1000
        crowd = Load(server.port, requests, pause=clients / (10 * best))
        prober.start()
        rate = await crowd.run(clients, 3 * given.seconds)
        cpu.append(server.cpu_seconds())
        return best, rate, crowd, before, server.megabytes(), cpu

    results = multiprocessing.Queue()
    prober = multiprocessing.Process(target=probe, args=(server.port, "A dog runs.", 3 * given.seconds, results), daemon=True)
    best, rate, crowd, before, after, cpu = asyncio.run(run())
    probed = results.get(timeout=60)
    refused = [t for status, times in crowd.times.items() if status in (429, 503) for t in times]
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    own = quantiles([line["ms"] / 1000 for line in lines if line.get("status") in (429, 503)])
    sent = sum(len(times) for times in crowd.times.values())
    print(f"overload: {best:.1f} sentences/s at saturation; offered {sent / (3 * given.seconds):.0f} a second for "
          f"{3 * given.seconds:.0f} s: {rate:.1f} sentences/s ({100 * rate / best:.0f} %), {len(refused)} refused, "
          f"p50 {quantiles(refused)[0]:.1f} ms, p99 {quantiles(refused)[2]:.1f} ms, slowest {1000 * max(refused):.0f} ms; "
          f"{len(probed)} of one more client p50 {quantiles(probed)[0]:.1f} ms, p99 {quantiles(probed)[2]:.1f} ms, "
          f"slowest {1000 * max(probed):.0f} ms "
          f"(in the server p50 {own[0]:.2f} ms, p99 {own[2]:.2f} ms); "
          f"{1000 * (cpu[1] - cpu[0]) / (best * given.seconds):.1f} and {1000 * (cpu[2] - cpu[1]) / (rate * 3 * given.seconds):.1f} "
          f"s of the server's processor time for 1000 sentences; memory {before} to {after} MB; other answers: {sorted(set(crowd.times) - {200, 429, 503}) or 'none'}")
    assert set(crowd.times) <= {200, 429, 503}, "every request is answered or refused"
    assert server.end() == 0


# ---- signals -------------------------------------------------------------------------------------------------------------


def check_bodies(load, expected):
    """Every answer that looks whole is right."""
    for number, bodies in load.bodies.items():
        assert bodies == {expected[number]}, (number, bodies)


def counts(load):
    """Answers by status."""
    names = {BROKEN: "a broken connection", NOBODY: "nobody listens"}
    return ", ".join(f"{len(load.times[s])} times {names.get(s, s)}" for s in sorted(load.times, reverse=True))


def alone(given, requests):
    """The answers of a server that does nothing else."""
    server = start(given)
    load = Load(server.port, requests)

    async def run():
        while len(load.bodies) < len(requests):
            await load.run(1, 1)

    asyncio.run(run())
    assert server.end() == 0
    return {number: next(iter(bodies)) for number, bodies in load.bodies.items()}


def signals(given, requests):
    """SIGHUP, SIGTERM and SIGKILL while 32 clients ask."""
    requests = requests[:100]
    expected = alone(given, requests)
    for name, number, times in (("SIGHUP", signal.SIGHUP, 3), ("SIGTERM", signal.SIGTERM, 1), ("SIGKILL", signal.SIGKILL, 1)):
        server = start(given)
        load = Load(server.port, requests)

        async def run(server=server, load=load, number=number, times=times):
            clients = asyncio.ensure_future(load.run(32, given.seconds / 2))
            for _ in range(times):
                await asyncio.sleep(given.seconds / 2 / (times + 1))
                server.process.send_signal(number)
            await clients

        asyncio.run(run())
        check_bodies(load, expected)
        is_up = number == signal.SIGHUP and server.process.poll() is None
        code = server.end() if is_up else server.process.wait(60)  # a second SIGTERM would end it at once
        print(f"{name}: {counts(load)}; all whole answers are right; exit code {code}")
        assert is_up == (number == signal.SIGHUP) and code == (-9 if number == signal.SIGKILL else 0)
        assert number != signal.SIGHUP or set(load.times) == {200}, "no request notices a reload"
    again = start(given)
    print(f"restart: ready after {again.seconds_to_start:.2f} s, {again.cpu_seconds():.2f} s of processor time")
    again.end()


# ---- keys ----------------------------------------------------------------------------------------------------------------


class Line:
    """A connection on which keys are tried, one after another."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def attempt(self, key):
        """The status, and the time that it took."""
        data = b"GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n" % key.encode()
        began = time.perf_counter_ns()
        self.socket.sendall(data)
        answer = self.socket.recv(4096)
        took = time.perf_counter_ns() - began
        return int(answer.split(b" ", 2)[1]), took


def keys(given, _requests):
    """Guessing is answered at a constant rate, and times tell nothing about prefixes."""
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run([given.heed, "serve", "--new-key", "alice"], capture_output=True, check=True)
        key = made.stderr.decode().split("the key of alice is ")[1].split()[0]
        path = pathlib.Path(folder) / "keys"
        path.write_bytes(made.stdout)
        server = start(given, "--keys", path)
        line, found, began = Line(server.port), {}, time.perf_counter()
        while time.perf_counter() < began + given.seconds:
            status, _ = line.attempt("hk-" + random.randbytes(32).hex())
            found[status] = found.get(status, 0) + 1
        print(f"keys: {sum(found.values()) / given.seconds:.0f} guesses a second for {given.seconds:.0f} s: {found.get(401, 0)} "
              f"were compared (30 at once and 30 a minute are allowed), {found.get(429, 0)} refused")
        assert set(found) == {401, 429} and found[401] <= 31 + given.seconds / 2
        server.end()
        server = start(given, "--keys", path, "--bad-keys-per-minute=1e9")
        compare_prefixes(Line(server.port), key)
        assert server.end() == 0


def compare_prefixes(line, key):
    """Times of wrong keys with a right and with a wrong beginning, in random order."""
    other = lambda c: "0" if c != "0" else "1"  # noqa: E731
    kinds = {"right": key[:-1] + other(key[-1]), "wrong": key[:3] + other(key[3]) + key[4:]}
    times = {name: [] for name in kinds}
    for _ in range(2000):
        line.attempt(kinds["right"])
    for _ in range(TRIES):
        name = random.choice(("right", "wrong"))
        status, took = line.attempt(kinds[name])
        assert status == 401
        times[name].append(took)
    cut = statistics.quantiles(times["right"] + times["wrong"], n=10)[8]  # without the slowest tenth
    kept = {name: [t for t in values if t <= cut] for name, values in times.items()}
    means = {name: statistics.fmean(values) for name, values in kept.items()}
    error = sum(statistics.variance(values) / len(values) for values in kept.values()) ** 0.5
    score = (means["right"] - means["wrong"]) / error
    print(f"keys: {TRIES} tries: {means['right'] / 1000:.2f} us with 66 right characters of 67, {means['wrong'] / 1000:.2f} us "
          f"with a wrong first one; difference {score:+.1f} standard errors")
    assert abs(score) < 4


# ---- company -------------------------------------------------------------------------------------------------------------


def company(given, requests):
    """An answer has the same bytes alone and among others."""
    expected = alone(given, requests[:100])
    server = start(given)
    load = Load(server.port, requests)
    asyncio.run(load.run(64, given.seconds))
    for number, body in expected.items():
        assert load.bodies.get(number, {body}) == {body}, (json.loads(body), load.bodies[number])
    assert all(len(bodies) == 1 for bodies in load.bodies.values())
    print(f"company: {len(load.ended)} answers among 64 clients; those of {len(expected)} sentences are as alone, the others "
          "are always the same")
    assert server.end() == 0


def main():
    given = arguments()
    requests = [request_of(sentence) for sentence in given.sentences.read_text(encoding="utf-8").splitlines()]
    for part in given.parts:
        {"slow": slow, "overload": overload, "signals": signals, "keys": keys, "company": company}[part](given, requests)


if __name__ == "__main__":
    main()
