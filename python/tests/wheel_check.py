"""The wheel, as a user gets it: made from the source tree, installed into a folder of its own, and
imported without anything of the build around it.

Run as: wheel_check.py BUILD, the folder of a finished build, whose module is taken.
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys

EVERYWHERE = ("libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "libstdc++.so",
              "libgcc_s.so", "ld-linux", "linux-vdso")

SMOKE = """
import numpy, heed
x = numpy.random.default_rng(0).standard_normal((1, 2, 5, 8), numpy.float32)
assert heed.attention(x, x, x, mask=heed.causal()).shape == x.shape
assert abs(heed.attention(x, x, x)[0, 0].sum(-1)).max() > 0
assert len(heed.list()) > 10
print(heed.__file__)
"""


def run(*command: object, **options: object) -> str:
    words = [str(word) for word in command]
    print("+", *words, flush=True)
    return subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def main() -> None:
    build = pathlib.Path(sys.argv[1]).resolve()
    source = pathlib.Path(__file__).resolve().parents[2]
    work = build / "wheel_check"
    shutil.rmtree(work, ignore_errors=True)
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q",
        "-C", f"build-dir={work / 'build'}", "-C", f"cmake.define.HEED_PREBUILT={build}",
        "-w", work, source)
    (wheel,) = work.glob("heed-*.whl")
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", work / "site", wheel)
    environment = {"PYTHONPATH": str(work / "site"), "PATH": "/usr/bin:/bin"}
    where = run(sys.executable, "-c", SMOKE, env=environment, cwd=work)
    assert where.strip().startswith(str(work / "site")), where
    package = work / "site" / "heed"
    (module,) = package.glob("_core*.so")
    for line in run("ldd", module, env={"PATH": "/usr/bin:/bin"}).splitlines():
        name = line.split()[0].rsplit("/", 1)[-1]
        carried = str(package) in line
        assert carried or name.startswith(EVERYWHERE), f"the wheel does not carry {line.strip()}"
    carried = [path.name.split(".")[0] for path in (package / "lib").iterdir()]
    assert len(carried) == len(set(carried)), f"a library is carried twice: {sorted(carried)}"
    assert (package / "_core.pyi").exists() and (package / "py.typed").exists()
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
