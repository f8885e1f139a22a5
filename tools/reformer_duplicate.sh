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

if (($# < 2)) || [[ ! $1 =~ ^[0-9]+$ ]]; then
  sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
length=$1 out=$2
shift 2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
heed=${HEED:-$root/build/release/heed}
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
  [[ -s $out/$1.txt ]] && return
  "$heed" corpus duplicate -n "$2" --length "$length" --seed "$3" -o "$out/$1.part" >/dev/null
  mv "$out/$1.part" "$out/$1.txt"
}

train() { # ROUNDS FLAG…
  local model=$out/$1 attention
  local -a again=()
  attention=$(attention "$1")
  shift
  [[ -e $model.trained ]] && return
  [[ -d $model ]] && again=(--resume)
  "$heed" train -c "$root/configs/reformer-duplicate.toml" --model "$model" --train-sets "$out/train.txt" \
    --valid-sets "$out/valid.txt" --block-length "$block" --reformer.lsh "$attention" \
    --reformer.positions "learned max_length=$block" "$@" "${again[@]}" >>"$model.log" 2>&1
  touch "$model.trained"
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
  train "$rounds" "$@"
  printf '%-12s' "$([[ $rounds == full ]] && echo full || echo "LSH-$rounds")"
  for with in full 8 4 2 1; do
    evaluate "$rounds" "$with"
    printf ' %7.1f%%' "$(awk 'END { print 100 * $NF }' "$out/$rounds.$with")"
  done
  printf '\n'
done
