#!/usr/bin/env python3
"""Compares simulated exchanges with real ones: the same program on SimGrid's MPI and on Open MPI.

Usage: check.py BUILD [--ranks 2,4,8] [--megabits 200] [--delay MILLISECONDS] [--compute SECONDS] [--updates N], as root. The
real ranks are in network namespaces, and packets are carried by torture/network.py with the rate and the delay that the
simulation is told. `./run bench scale` installs what it needs.
"""

import argparse
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "torture"), str(ROOT / "benchmarks" / "distributed")]

import network  # noqa: E402  pylint: disable=wrong-import-position
import scale  # noqa: E402  pylint: disable=wrong-import-position


def main():
    """Measures and simulates all cases."""
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--megabits", type=float, default=200.0)
    parser.add_argument("--delay", type=float, default=1.0, help="milliseconds one way")
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--compute", type=float, default=3.0, help="seconds of an update")
    parser.add_argument("--updates", type=int, default=4)
    parser.add_argument("--hows", default="overlapped,after,plain")
    given = parser.parse_args()
    folder = given.build.resolve()
    simulated, real = scale.build(folder), scale.build(folder, simulated=False)
    bytes_per_second = given.megabits * 125e3
    with tempfile.TemporaryDirectory(prefix="heed-check-") as name:
        for ranks in map(int, given.ranks.split(",")):
            with network.Network(ranks, mtu=60000) as wires:
                wires.rate, wires.delay = bytes_per_second, given.delay
                for how in given.hows.split(","):
                    arguments = (given.model, given.compute, given.updates, "f32", how, 1 << 18)
                    printed = network.launch(wires, pathlib.Path(name), [real, *arguments])[1]
                    measured = json.loads(printed.splitlines()[-1])
                    # A message passes two links of a cluster.
                    predicted = scale.predict(simulated, ranks, (bytes_per_second, given.delay / 2000.0), arguments)
                    print(f"{ranks} ranks, {how}: measured {measured['best'] - given.compute:.3f} s (the best of "
                          f"{given.updates}), simulated {predicted['best'] - given.compute:.3f} s beyond {given.compute:g} s of "
                          f"computation, {measured['bytes'] / 1e6:.1f} MB sent", flush=True)


if __name__ == "__main__":
    main()
