#!/usr/bin/env bash
# Runs the test program on an emulated CPU with AVX-512, for machines whose own has none: boots a
# Linux kernel with nothing but the tests in Bochs, and shows what they print.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: tools/avx512/run_in_bochs.sh KERNEL TESTS [GTEST_FILTER]

  KERNEL        a vmlinuz, e.g. of linux-image-…-cloud-amd64 by apt-get download and dpkg-deb -x
  TESTS         the test program, e.g. build/release/heed_tests
  GTEST_FILTER  which tests (default: all but the large ones)

Environment: HEED_ISA (default: none forced, so tests walk through all sets, avx512 first),
BOCHS_WORK (folder for the image and logs; default: a temporary one), BOCHS_CPU (default:
corei7_skylake_x), BOCHS_MEMORY (MB, default 1024), BOCHS_LIMIT (seconds, default 3600).
Debian packages: bochs bochs-term bochsbios vgabios isolinux syslinux-common xorriso busybox-static
cpio bsdutils. Exit codes: 0 tests passed, 1 failed or not finished, 2 wrong usage or missing tools.
TEXT
}

[[ $# -ge 2 && $# -le 3 ]] || { usage >&2; exit 2; }
kernel=$1
tests=$(realpath "$2")
filter=${3:-*-*BeyondTheCaches*:*Large*:*Million*}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
isolinux=/usr/lib/ISOLINUX/isolinux.bin
ldlinux=/usr/lib/syslinux/modules/bios/ldlinux.c32
bios=/usr/share/bochs

for tool in bochs xorriso busybox cpio script; do
  command -v "$tool" >/dev/null || { echo "missing: $tool" >&2; usage >&2; exit 2; }
done
for file in "$kernel" "$tests" "$isolinux" "$ldlinux" "$bios"/{BIOS-bochs,VGABIOS-lgpl}-latest; do
  [[ -f $file ]] || { echo "missing: $file" >&2; usage >&2; exit 2; }
done

work=$(realpath -m "${BOCHS_WORK:-$(mktemp -d)}")
[[ -n ${BOCHS_WORK:-} ]] || trap 'rm -rf "$work"' EXIT
rm -rf "$work"/{image,cd}
mkdir -p "$work"/image/{bin,dev,proc,sys,tmp} "$work"/cd

# The image: busybox, the tests with their libraries, and their data where it was at compile time.
cp "$(command -v busybox)" "$work/image/bin/busybox"
ldd "$tests" | grep -o '/[^ ]*' | while read -r lib; do cp -L --parents "$lib" "$work/image"; done
strip -o "$work/image/heed_tests" "$tests"
cp -r --parents "$root/tests/golden" "$work/image"
cat >"$work/image/init" <<INIT
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HEED_THREADS=${HEED_THREADS:-1} ${HEED_ISA:+HEED_ISA=$HEED_ISA}
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
echo "cpu: \$(grep -m1 ^flags /proc/cpuinfo | tr ' ' '\n' | grep avx | tr '\n' ' ')"
cd /tmp && /heed_tests --gtest_filter='$filter' 2>&1
echo "exit code \$?"
sleep 2  # until the serial line is empty
poweroff -f
INIT
chmod +x "$work/image/init"
(cd "$work/image" && find . | cpio --quiet -o -H newc) >"$work/cd/initrd"

cp "$kernel" "$work/cd/kernel" && cp "$isolinux" "$ldlinux" "$work/cd"
# xsavec and xsaves are cleared (321, 323) because Bochs 2.7 gives a wrong size for them, upon which
# Linux turns all of AVX off.
printf 'default go\nlabel go\n kernel kernel\n append initrd=initrd %s\n' \
  'console=ttyS0,115200 mitigations=off quiet tsc=reliable clearcpuid=321,323' \
  >"$work/cd/isolinux.cfg"
xorriso -report_about WARNING -as mkisofs -quiet -o "$work/cd.iso" -b isolinux.bin -c boot.cat \
  -no-emul-boot -boot-load-size 4 -boot-info-table "$work/cd"

cat >"$work/bochsrc" <<RC
config_interface: textconfig
display_library: term
cpu: model=${BOCHS_CPU:-corei7_skylake_x}, count=1, ips=50000000, reset_on_triple_fault=0
memory: guest=${BOCHS_MEMORY:-1024}, host=${BOCHS_MEMORY:-1024}
romimage: file=$bios/BIOS-bochs-latest
vgaromimage: file=$bios/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path=$work/cd.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$work/serial.txt
log: $work/bochs.log
panic: action=fatal
speaker: enabled=0
sound: waveoutdrv=dummy
RC
# Debian builds Bochs with its debugger, which waits to be told to go.
printf 'continue\nquit\n' >"$work/debugger"
: >"$work/serial.txt"
tail -f "$work/serial.txt" &
tail_id=$!
# Bochs draws its screen with curses and wants a terminal; what matters comes by the serial line.
TERM=vt100 timeout "${BOCHS_LIMIT:-3600}" script -qec \
  "bochs -q -f '$work/bochsrc' -rc '$work/debugger'" /dev/null \
  >"$work/screen.txt" 2>&1 </dev/null || true
sleep 1
kill "$tail_id"
grep -q '^cpu: .*avx512f' "$work/serial.txt" && grep -q '^exit code 0' "$work/serial.txt"
