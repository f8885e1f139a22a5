#!/usr/bin/env python3
"""Predicts training on many machines: heed's exchanges on networks that SimGrid simulates.

Usage: scale.py BUILD [--ranks 2,8,64] [--models base] [--networks 1,10] [--speeds 1,16] [--hows overlapped,after] [--seconds N]
[--bucket N]. A simulation takes time for each message, so large buckets are faster to simulate, and hide less.
Prints the cases and writes scale.json into BUILD. `./run bench scale` installs what it needs, builds the library and runs it.
"""

import argparse
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Gb/s of a link, and seconds of latency from a machine to the switch.
NETWORKS = {1: 25e-6, 10: 10e-6, 100: 1e-6}
# Seconds of an update of 4096 tokens with two threads on Zen 4 (docs/performance.md). Base is measured; big has 3.26 times the
# operations of a token.
COMPUTE = {"base": 7.9, "big": 7.9 * 3.26}
LIBRARIES = ("-lfmt -ldnnl -lhwy -lsentencepiece -lsentencepiece_train -ltomlplusplus -lutf8proc -lpcre2-8 -lz -lpng -ljpeg "
             "-lpthread -lgomp").split()


# The last ones are heed::add_into and heed::kernels::sum_of_squares.
WRAPPED = ("aligned_alloc free memcpy MPI_Isend MPI_Issend MPI_Irecv MPI_Waitsome "
           "_ZN4heed8add_intoERNS_6TensorERKS0_ _ZN4heed7kernels14sum_of_squaresEPKfl").split()


def build(folder, simulated=True, more_flags=()):
    """Compiles the program against the library, for SimGrid's MPI or the real one; its path."""
    program = folder / ("scale" if simulated else "scale-real")
    here = ROOT / "benchmarks" / "distributed"
    flags = ["-std=c++20", "-O2", "-I", str(ROOT), "-DFMT_SHARED", *more_flags]
    if simulated:
        flags += ["-DHEED_SIMULATED_MPI", *(f"-Wl,--wrap={name}" for name in WRAPPED)]
    subprocess.run(["smpicxx" if simulated else "mpicxx", *flags, str(here / "scale.cpp"),
                    str(ROOT / "heed/distributed/mpi/module.cpp"), str(folder / "libheed.a"), *LIBRARIES, "-o", str(program)],
                   check=True)
    return program


def platform(folder, ranks, bytes_per_second, latency):
    """The files of a cluster: machines at one switch that does not block."""
    xml = folder / "cluster.xml"
    xml.write_text(f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" suffix="" radical="0-1023" speed="1Gf" bw="{bytes_per_second:.0f}Bps"
           lat="{latency}s" sharing_policy="SPLITDUPLEX" loopback_bw="1e8Bps" loopback_lat="0s"/>
</platform>
""")
    hosts = folder / "cluster-hosts"
    hosts.write_text("".join(f"node-{i}\n" for i in range(ranks)))
    return xml, hosts


def predict(program, ranks, network, arguments, limit=None):
    """The result of a simulation; None if it takes too long. A network is its bytes per second and its latency.

    Three settings make it fast: nobody asks how time passes in MPI_Test; a short message is in the list of its sender, not in one
    of all ranks; and what ends within 10 microseconds ends at once (with 32 ranks this changes an update by 0.1 %).
    """
    xml, hosts = platform(program.parent, ranks, *network)
    settings = ["smpi/simulate-computation:no", "smpi/privatization:no", "smpi/test:0", "smpi/send-is-detached-thresh:0",
                "contexts/stack-size:1024", "surf/precision:1e-5", "smpi/allgather:bruck",
                "network/crosstraffic:no"]
    command = ["smpirun", "-np", str(ranks), "-platform", str(xml), "-hostfile", str(hosts),
               *(f"--cfg={setting}" for setting in settings), str(program), *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True) as run:
        try:
            printed, said = run.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)  # smpirun is a script
            return None
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{printed}{said[-3000:]}")
    return json.loads(printed.splitlines()[-1])


def main():
    """Simulates all cases."""
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", default="2,8,32,128,512")
    parser.add_argument("--models", default="base,big")
    parser.add_argument("--networks", default="1,10,100", help="Gb/s")
    parser.add_argument("--wires", default="f32")
    parser.add_argument("--hows", default="overlapped", help="overlapped, after (the backward pass), plain (MPI's all-reduce)")
    parser.add_argument("--speeds", default="1,16", help="times as fast as the machine of the measurement")
    parser.add_argument("--bucket", type=int, default=0, help="elements of a bucket, at least; 0: as in training")
    parser.add_argument("--seconds", type=float, default=300.0, help="of a simulation, at most")
    given = parser.parse_args()
    program = build(given.build.resolve())
    rows = []
    chosen = [given.models.split(","), map(float, given.speeds.split(",")), given.wires.split(","), given.hows.split(","),
              map(int, given.networks.split(","))]
    for model, speed, wire, how, gigabits in itertools.product(*chosen):
        for ranks in map(int, given.ranks.split(",")):
            compute = COMPUTE[model] / speed
            name = f"{model} {speed:g}x {wire} {how} {gigabits} Gb/s {ranks} ranks"
            found = predict(program, ranks, (gigabits * 125e6, NETWORKS[gigabits]), (model, compute, 1, wire, how, given.bucket),
                            given.seconds)
            if found is None:
                print(f"{name}: more than {given.seconds:g} s", flush=True)
                break
            row = {"model": model, "speed": speed, "wire": wire, "how": how, "gigabits": gigabits, "compute": compute,
                   **found, "efficiency": compute / found["seconds"]}
            rows.append(row)
            print(f"{name}: {found['seconds']:.3f} s an update, {100 * row['efficiency']:.1f} %", flush=True)
            (given.build / "scale.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
