#!/usr/bin/env python3
"""Sentences per second, times and processor time of `heed serve` for 1 to 256 clients, against `heed translate` on the
same file and CTranslate2 behind FastAPI. All on the loopback address.

    load.py HEED MODEL SENTENCES [--clients 1,8,64,256] [--seconds 20] [--quantize int8] [--beam-size 1]
            [--peer PYTHON CTRANSLATE2_MODEL]

PYTHON is an interpreter with ctranslate2, sentencepiece, fastapi and uvicorn. Each client sends one sentence, waits for
the answer and sends the next. Processor time is that of the server alone.
"""

import argparse
import asyncio
import pathlib
import resource
import socket
import subprocess
import time

from clients import Load, Process, heed_server, quantiles, request_of

HERE = pathlib.Path(__file__).resolve().parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("heed")
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("sentences", type=pathlib.Path, help="a text file, a sentence a line")
    parser.add_argument("--clients", default="1,8,64,256")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--quantize", default="int8")
    parser.add_argument("--beam-size", default="1")
    parser.add_argument("--peer", nargs=2, metavar=("PYTHON", "MODEL"))
    return parser.parse_args()


def measure_file(given, count):
    """`heed translate` on the file, the loading of the model subtracted: it is measured with an empty file."""
    def run(path):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([given.heed, "translate", "--model", given.model, "--quantize", given.quantize, "--beam-size",
                        given.beam_size, "-i", path, "-o", "/dev/null"], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return time.perf_counter() - began, cpu

    empty, whole = run("/dev/null"), run(given.sentences)
    took, cpu = whole[0] - empty[0], whole[1] - empty[1]
    print(f"| heed translate, a file | | {count / took:.1f} | | | | {1000 * cpu / count:.1f} | | |", flush=True)


def free_port():
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def measure(name, server, requests, clients, seconds):
    """One row: sentences/s, p50, p95, p99, processor seconds for 1000 sentences, refusals, memory. Nothing is counted while
    the first answers are on their way and after the last request: batches are not full then."""
    async def run():
        load = Load(server.port, requests)
        await load.run(min(clients, 16), 2)  # warm
        settling = seconds / 2
        crowd = asyncio.ensure_future(load.run(clients, settling + seconds))
        await asyncio.sleep(settling)
        load.times.clear()
        cpu, before, began = server.cpu_seconds(), len(load.ended), time.perf_counter()
        await asyncio.sleep(seconds - 0.1)
        took, done, cpu = time.perf_counter() - began, len(load.ended) - before, server.cpu_seconds() - cpu
        times = {status: list(some) for status, some in load.times.items()}
        await crowd
        return times, done / took, 1000 * cpu / max(1, done)

    times, rate, cpu = asyncio.run(run())
    refused = sum(len(some) for status, some in times.items() if status != 200)
    p50, p95, p99 = quantiles(times.get(200, []))
    print(f"| {name} | {clients} | {rate:.1f} | {p50:.0f} | {p95:.0f} | {p99:.0f} | {cpu:.1f} | {refused} | "
          f"{server.megabytes('VmHWM')} |", flush=True)


def main():
    given = arguments()
    sentences = given.sentences.read_text(encoding="utf-8").splitlines()
    requests = [request_of(sentence) for sentence in sentences]
    print("| | clients | sentences/s | p50 ms | p95 ms | p99 ms | CPU s per 1000 | refused | MB |\n"
          "|---|---|---|---|---|---|---|---|---|")
    measure_file(given, len(sentences))
    counts = [int(count) for count in given.clients.split(",")]
    for count in counts:
        server = heed_server(given.heed, given.model, "--quantize", given.quantize, "--beam-size", given.beam_size)
        measure("heed serve", server, requests, count, given.seconds)
        server.end()
    for count in counts if given.peer else []:
        port = free_port()
        server = Process([given.peer[0], HERE / "fastapi_peer.py", given.peer[1], given.model, given.quantize,
                          given.beam_size, port], "Uvicorn running on")
        measure("CTranslate2, FastAPI", server, requests, count, given.seconds)
        server.end()


if __name__ == "__main__":
    main()
