#!/usr/bin/env python3
"""network: training on ranks that are connected by a bad network.

Usage: network.py HEED [RANKS] [FOLDER], as root. Each rank gets a network namespace of its own whose only way out is a TUN
device; this script carries the packets from one to the other, late, or not at all. Promise: every run ends with the bytes of
one on a good network. All is removed at the end.
"""

import ctypes
import fcntl
import heapq
import os
import pathlib
import random
import select
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

import ranks

SUBNET = "10.77.0."
CASES = [(0.0, 0.0), (1.0, 0.0), (10.0, 0.0), (10.0, 0.01), (10.0, 0.05)]  # milliseconds one way, share of lost packets
SECONDS = 300.0  # the longest that a run may take
TUNSETIFF, IFF_TUN, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 0x0001, 0x1000, 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


def enter(namespace):
    """Moves this thread into an open network namespace."""
    if LIBC.setns(namespace, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "cannot enter a network namespace")


class Network:
    """Namespaces that are connected by packets that a thread carries: milliseconds late, and so many bytes a second."""

    def __init__(self, size, mtu=9000):
        self.mtu = mtu
        self.names = [f"heed-net-{os.getpid()}-{i}" for i in range(size)]
        self.devices = []
        self.delay, self.loss, self.rate = 0.0, 0.0, 0.0  # a rate of 0 has no limit
        self.carried = self.lost = 0
        self.stopping = False
        self.carrier = threading.Thread(target=self.carry)

    def __enter__(self):
        try:
            for i, name in enumerate(self.names):
                subprocess.run(["ip", "netns", "add", name], check=True)
                self.devices.append(self.open_device(name))
                for setting in (f"address add {SUBNET}{i + 1}/24 dev heed0", f"link set dev heed0 mtu {self.mtu} up", "link set lo up"):
                    subprocess.run(["ip", "-n", name, *setting.split()], check=True)
            self.carrier.start()
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        self.stopping = True
        if self.carrier.is_alive():
            self.carrier.join()
        for device in self.devices:
            os.close(device)
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)

    @staticmethod
    def open_device(name):
        """A TUN device inside a namespace. It stays there when the thread comes back."""
        home, other = (os.open(path, os.O_RDONLY) for path in ("/proc/thread-self/ns/net", f"/run/netns/{name}"))
        try:
            enter(other)
            device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", b"heed0", IFF_TUN | IFF_NO_PI))
            return device
        finally:
            enter(home)
            os.close(home)
            os.close(other)

    def carry(self):
        """Reads packets and writes them to their receivers, later."""
        draw = random.Random(1)
        waiting, number = [], 0
        up, down = [0.0] * len(self.devices), [0.0] * len(self.devices)  # when the two ways of each link are free
        while not self.stopping:
            pause = min(0.1, max(0.0, waiting[0][0] - time.monotonic())) if waiting else 0.1
            for device in select.select(self.devices, [], [], pause)[0]:
                packet, sender = os.read(device, 65536), self.devices.index(device)
                to = packet[19] - 1  # the last byte of the IPv4 destination
                if packet[0] >> 4 != 4 or not 0 <= to < len(self.devices):
                    continue
                self.carried += 1
                if draw.random() < self.loss:
                    self.lost += 1
                    continue
                number += 1
                takes = len(packet) / self.rate if self.rate > 0 else 0.0
                up[sender] = max(time.monotonic(), up[sender]) + takes
                down[to] = max(up[sender], down[to] + takes)
                heapq.heappush(waiting, (down[to] + self.delay / 1000.0, number, self.devices[to], packet))
            while waiting and waiting[0][0] <= time.monotonic():
                _, _, device, packet = heapq.heappop(waiting)
                try:
                    os.write(device, packet)
                except BlockingIOError:
                    self.lost += 1  # as a full queue of a router


def launch(network, folder, program):
    """Runs a program with one rank in each namespace; the seconds that it took, and what it printed."""
    # Open MPI starts its helper on another host with this instead of ssh.
    agent = folder / "agent.sh"
    agent.write_text(f"""#!/bin/sh
host=$1; shift
name={network.names[0].rpartition("-")[0]}-$((${{host##*.}} - 1))
exec ip netns exec "$name" unshare --uts sh -c "hostname $name; $*"
""")
    agent.chmod(0o755)
    hosts = ",".join(f"{SUBNET}{i + 1}" for i in range(len(network.names)))
    mpirun = ["mpirun", "-n", str(len(network.names)), "--host", hosts, "--bind-to", "none"]
    for key, value in (("plm_rsh_agent", agent), ("btl", "self,tcp"), ("btl_tcp_if_include", f"{SUBNET}0/24"),
                       ("oob_tcp_if_include", f"{SUBNET}0/24")):
        mpirun += ["--mca", key, str(value)]
    command = shlex.join([*mpirun, *map(str, program)])
    environment = {name: value for name, value in ranks.ENVIRONMENT.items() if not name.startswith("OMPI_MCA_btl")}
    begin = time.monotonic()
    launcher = subprocess.Popen([str(agent), f"{SUBNET}1", f"exec {command}"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)
    try:
        printed, said = launcher.communicate(timeout=SECONDS)
    except BaseException:
        os.killpg(launcher.pid, signal.SIGKILL)
        launcher.wait()
        raise
    if launcher.returncode != 0:
        raise AssertionError(f"{program[0]} ended with {launcher.returncode}:\n{said[-3000:]}")
    return time.monotonic() - begin, printed


def main():
    """Trains on good and bad networks, and compares the bytes."""
    heed = os.path.abspath(sys.argv[1])
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    if os.geteuid() != 0 or not os.path.exists("/dev/net/tun"):
        print("network: needs root and /dev/net/tun")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="heed-network-", dir=sys.argv[3] if len(sys.argv) > 3 else None) as name:
        folder = pathlib.Path(name)
        flags = ranks.prepare(heed, folder)
        ranks.finish(heed, folder / "straight", size, flags)
        expected = ranks.result(folder / "straight")
        with Network(size) as network:
            for delay, loss in CASES:
                network.delay, network.loss = delay, loss
                network.carried = network.lost = 0
                model = folder / f"model_{delay}_{loss}"
                seconds, _ = launch(network, folder, [heed, "train", "--model", model, *flags])
                same = ranks.result(model) == expected
                print(f"{delay:g} ms one way, {100 * loss:g} % lost: {seconds:.1f} s, {network.carried} packets, {network.lost} "
                      f"lost, {'the same bytes' if same else 'OTHER BYTES'}", flush=True)
                if not same:
                    return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
