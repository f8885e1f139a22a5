"""How long to wait for a process: by what it does, because on a busy machine the clock tells nothing.

A process hangs if it has used more CPU time than it may, or if all its threads have slept for two minutes. A process that
waits for a CPU or for the disk is slow.
"""

import contextlib
import os
import signal
import threading

SAMPLE_SECONDS = 0.5
ASLEEP_SAMPLES = 240
TICKS = os.sysconf("SC_CLK_TCK")


def tree(pid):
    """A process and its descendants."""
    yield pid
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
            children = file.read().split()
        for child in children:
            yield from tree(int(child))


def read_threads(pid):
    """The state and the CPU ticks of each thread of a process."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/stat", encoding="ascii", errors="replace") as file:
            words = file.read().rpartition(")")[2].split()
        yield words[0], int(words[11]) + int(words[12])


def kill(pid):
    """Kills a process and its descendants."""
    with contextlib.suppress(OSError):  # it has just ended
        for found in list(tree(pid)):
            os.kill(found, signal.SIGKILL)


class Patience:
    """Looks at a process now and then until it hangs."""

    def __init__(self, pid, cpu_seconds):
        self.pid = pid
        self.most = cpu_seconds * TICKS
        self.ticks = self.asleep = 0

    def is_over(self):
        """Takes a sample; whether the process hangs."""
        try:
            threads = [thread for pid in tree(self.pid) for thread in read_threads(pid)]
        except OSError:  # a thread or a child has just ended
            self.asleep = 0
            return False
        ticks = sum(used for _, used in threads)
        sleeps = ticks == self.ticks and all(state == "S" for state, _ in threads)
        self.asleep = self.asleep + 1 if sleeps else 0
        self.ticks = ticks
        return ticks > self.most or self.asleep >= ASLEEP_SAMPLES


class Watch:
    """Looks at a process while a block waits for it, and kills it if it hangs."""

    def __init__(self, pid, cpu_seconds):
        self.patience = Patience(pid, cpu_seconds)
        self.hung = False
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.look)

    def look(self):
        """Samples until the block has ended."""
        while not self.ended.wait(SAMPLE_SECONDS):
            if self.patience.is_over():
                self.hung = True
                kill(self.patience.pid)
                return

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def communicate(process, cpu_seconds, data=None):
    """The exit code and the output of a process; the code is None if it hung and was killed."""
    with Watch(process.pid, cpu_seconds) as watch:
        out, err = process.communicate(data)
    return None if watch.hung else process.returncode, out, err
