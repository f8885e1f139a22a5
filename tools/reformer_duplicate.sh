#!/usr/bin/env bash
# The duplication task of Reformer (Kitaev et al. 2020, Table 2) over configs/reformer-duplicate.toml:
# trains with full attention and with 4, 2 and 1 rounds of hashing, evaluates each model with full
# attention and with 8, 4, 2 and 1 rounds, and prints the accuracy in the second half of the examples.
#
#   tools/reformer_duplicate.sh LENGTH OUT [FLAG…]
#
# LENGTH is |w|, 127 or 511 as in the paper. OUT/NAME is the folder of a run, OUT/NAME.WITH what was
# found with another attention. A run that was stopped continues; one that was evaluated is left alone.
# FLAGs go to every training: --seed 2, --cpu-threads 1.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/trainings.sh"
(($# >= 2)) && [[ $1 =~ ^[0-9]+$ ]] || usage
length=$1 out=$2
flags=("${@:3}")
block=$((2 * length + 2))
chunk=$((block / 8 < 64 ? block / 8 : 64))
mkdir -p "$out"

# As many buckets as chunks; full attention is one bucket, which a chunk holds.
attention() {
  if [[ $1 == full ]]; then
    echo "lsh buckets=1 chunk=$block rounds=1"
  else
    echo "lsh buckets=$((block / chunk / 2 * 2)) chunk=$chunk rounds=$1 redraw=true unique=true"
  fi
}

make_text() { # NAME EXAMPLES SEED
  once "$out/$1.txt" "$heed" corpus duplicate -n "$2" --length "$length" --seed "$3" -o "$out/$1.txt"
}

train_rounds() { # ROUNDS
  [[ -e $out/$1.trained ]] && return
  train "$out/$1" reformer-duplicate.toml --train-sets "$out/train.txt" --valid-sets "$out/valid.txt" \
    --block-length "$block" --reformer.lsh "$(attention "$1")" --reformer.positions "learned max_length=$block"
  touch "$out/$1.trained"
}

# The parameters do not depend on rounds and buckets, so a copy of the folder gets another config.
evaluate() { # ROUNDS WITH
  local result=$out/$1.$2 copy=$out/$1.evaluated
  [[ -s $result ]] && return
  rm -rf "$copy"
  cp -rL "$out/$1/checkpoint_last" "$copy"
  sed -i "s/\"lsh\": \"[^\"]*\"/\"lsh\": \"$(attention "$2")\"/" "$copy/config.json"
  "$heed" see positions "$copy" "$out/valid.txt" --block-length "$block" --parts 2 >"$result.part"
  rm -rf "$copy"
  mv "$result.part" "$result"
}

make_text train 40000 1
make_text valid 200 2
printf '%-12s %8s %8s %8s %8s %8s\n' 'trained with' full LSH-8 LSH-4 LSH-2 LSH-1
for rounds in full 4 2 1; do
  train_rounds "$rounds"
  printf '%-12s' "$([[ $rounds == full ]] && echo full || echo "LSH-$rounds")"
  for with in full 8 4 2 1; do
    evaluate "$rounds" "$with"
    printf ' %7.1f%%' "$(awk 'END { print 100 * $NF }' "$out/$rounds.$with")"
  done
  printf '\n'
done
