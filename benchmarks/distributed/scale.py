#!/usr/bin/env python3
"""Predicts training on many machines: heed's exchanges on networks that SimGrid simulates.

Usage: scale.py BUILD [--ranks 2,8,64] [--models base] [--networks 1,10] [--speeds 1,16] [--seconds N]. Prints the cases and
writes scale.json into BUILD. `./run bench scale` installs what it needs, builds the library and runs it.
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Gb/s of a link, and seconds of latency from a machine to the switch.
NETWORKS = {1: 25e-6, 10: 10e-6, 100: 1e-6}
# Seconds of an update of 4096 tokens with two threads on the machine of docs/performance.md. Base: 355 tokens/s; big has
# 3.26 times the operations of a token.
COMPUTE = {"base": 4096 / 355, "big": 4096 / 355 * 3.26}
LIBRARIES = ("-lfmt -ldnnl -lhwy -lsentencepiece -lsentencepiece_train -ltomlplusplus -lutf8proc -lpcre2-8 -lz -lpng -ljpeg "
             "-lpthread -lgomp").split()


def build(folder):
    """Compiles the program against the library; its path."""
    program = folder / "scale"
    here = ROOT / "benchmarks" / "distributed"
    flags = ["-std=c++20", "-O2", "-I", str(ROOT), "-DFMT_SHARED"]
    wraps = [f"-Wl,--wrap={name}" for name in ("aligned_alloc", "free", "nanosleep")]
    subprocess.run(["smpicxx", *flags, str(here / "scale.cpp"), str(ROOT / "heed/distributed/mpi/module.cpp"),
                    str(folder / "libheed.a"), *LIBRARIES, *wraps, "-o", str(program)], check=True)
    return program


def platform(folder, ranks, gigabits):
    """The files of a cluster: machines at one switch that does not block."""
    xml = folder / f"cluster-{gigabits}.xml"
    xml.write_text(f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" suffix="" radical="0-1023" speed="1Gf" bw="{gigabits * 125}MBps"
           lat="{NETWORKS[gigabits]}s" sharing_policy="SPLITDUPLEX"/>
</platform>
""")
    hosts = folder / "cluster-hosts"
    hosts.write_text("".join(f"node-{i}\n" for i in range(ranks)))
    return xml, hosts


def predict(program, ranks, gigabits, model, compute, wire, limit):
    """The result of a simulation; None if it takes too long."""
    xml, hosts = platform(program.parent, ranks, gigabits)
    settings = ["smpi/simulate-computation:no", "smpi/privatization:no", "smpi/test:1e-5", "contexts/stack-size:1024"]
    command = ["smpirun", "-np", str(ranks), "-platform", str(xml), "-hostfile", str(hosts),
               *(f"--cfg={setting}" for setting in settings), str(program), model, str(compute), "1", wire]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    """Simulates all cases."""
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", default="2,8,32,128")
    parser.add_argument("--models", default="base,big")
    parser.add_argument("--networks", default="1,10,100", help="Gb/s")
    parser.add_argument("--wires", default="f32")
    parser.add_argument("--speeds", default="1,16", help="times as fast as the machine of the measurement")
    parser.add_argument("--seconds", type=float, default=300.0, help="of a simulation, at most")
    given = parser.parse_args()
    program = build(given.build.resolve())
    rows = []
    for model in given.models.split(","):
        for speed in map(float, given.speeds.split(",")):
            for wire in given.wires.split(","):
                for gigabits in map(int, given.networks.split(",")):
                    for ranks in map(int, given.ranks.split(",")):
                        compute = COMPUTE[model] / speed
                        found = predict(program, ranks, gigabits, model, compute, wire, given.seconds)
                        if found is None:
                            print(f"{model} {speed:g}x {wire} {gigabits} Gb/s {ranks} ranks: more than {given.seconds:g} s")
                            break
                        row = {"model": model, "speed": speed, "wire": wire, "gigabits": gigabits, "compute": compute,
                               **found, "efficiency": compute / found["seconds"]}
                        rows.append(row)
                        print(f"{model} {speed:g}x {wire} {gigabits} Gb/s {ranks} ranks: {found['seconds']:.3f} s an update, "
                              f"{100 * row['efficiency']:.1f} %", flush=True)
    (given.build / "scale.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
