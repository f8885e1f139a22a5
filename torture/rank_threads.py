#!/usr/bin/env python3
"""rank_threads: the module for MPI under the thread sanitizer: its thread moves messages while a rank computes.

Usage: rank_threads.py BUILD [RANKS]. BUILD has libheed.a. The module and the updates of benchmarks/distributed/scale.cpp are
compiled with the sanitizer; Open MPI, which is not, is left out. Promise: no data races.
"""

import pathlib
import subprocess
import sys
import tempfile

import ranks

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "benchmarks" / "distributed"))

import scale  # noqa: E402  pylint: disable=wrong-import-position


def main():
    """Eight updates with small buckets: more messages at once than may be in flight."""
    build = pathlib.Path(sys.argv[1]).resolve()
    size = sys.argv[2] if len(sys.argv) > 2 else "3"
    with tempfile.TemporaryDirectory(prefix="heed-rank-threads-") as name:
        folder = pathlib.Path(name)
        (folder / "libheed.a").symlink_to(build / "libheed.a")
        program = scale.build(folder, simulated=False, more_flags=["-fsanitize=thread", "-g"])
        suppressions = folder / "suppressions"
        suppressions.write_text("race:libmpi.so\nrace:libopen-pal.so\n")
        options = f"suppressions={suppressions} ignore_noninstrumented_modules=1 exitcode=66"
        command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", size, program, "tiny", "0.5", "8", "f32", "overlapped", "20000"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300,
                              env=ranks.ENVIRONMENT | {"TSAN_OPTIONS": options, "OMP_NUM_THREADS": "1"})
    if done.returncode != 0 or "ThreadSanitizer" in done.stderr:
        print(done.stdout + done.stderr)
        return 1
    print(f"{size} ranks, 8 updates: no data races")
    return 0


if __name__ == "__main__":
    sys.exit(main())
