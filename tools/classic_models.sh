#!/usr/bin/env bash
# Trains the classic models for the tables of docs/quality.md and scores them. Translators have a
# program of their own, multi30k_forms.sh.
#
#   tools/classic_models.sh copy|hull|cloze|captions|glimpses|pictures DATA OUT [FLAG…]
#
#   copy      neural Turing machine, seeds 1 to 5, then sequences of 80 vectors
#   hull      pointer network, then hulls of 5 and of 10 points
#   cloze     attention over attention and attention sum, seeds 1 to 3
#   captions  soft, hard and Gumbel attention
#   glimpses  recurrent attention model
#   pictures  ResNet-20 without and with a non-local block, seeds 1 to 3
#
# DATA has what a table needs: the idx files of MNIST, cft.test.auto.txt.gz and cft.test.human.txt.gz,
# or train4k.bin.gz and test1k.bin.gz of CIFAR-10. OUT/NAME is the folder of a run, OUT/NAME.score its
# result. A run that was stopped continues; one that has a result is left alone. FLAGs go to every
# training: --cpu-threads 1, --after 5u. Checkpoints are chosen by validation; where there is no
# validation set, the last one is used. The test set chooses nothing.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/trainings.sh"
(($# >= 3)) || usage
table=$1 data=$(realpath "$2") out=$3
flags=("${@:4}")
mkdir -p "$out"
cd "$out"

# train_unscored NAME CONFIG FLAG…: trains what has no score yet, and fails for what has one.
train_unscored() {
  [[ -s $1.score ]] && return 1
  rm -f "$1.score.part"
  train "$@"
}

# score NAME COMMAND…: the verb's note about its result, which it writes to standard error.
score() {
  local name=$1
  shift
  "$heed" "$@" 2>&1 >"$name.out" | sed 's/^heed: //' >>"$name.score.part"
}

finish() {
  mv "$1.score.part" "$1.score"
  sed "s/^/$1: /" "$1.score"
}

# need FILE…: files of DATA that a table is made of.
need() {
  local file
  for file in "$@"; do
    [[ -r $file ]] && continue
    printf 'classic_models.sh: %s is missing: the table %s is made of it\n' "$file" "$table" >&2
    exit 2
  done
}

copy() {
  local seed
  once copy.txt "$heed" corpus copy -n 100000 --held-out 500 -o copy
  once copy80.txt "$heed" corpus copy -n 100 --lengths 80 80 --seed 2 -o copy80
  for seed in 1 2 3 4 5; do
    train_unscored "copy-$seed" copy-turing-machine.toml --train-sets copy.txt --valid-sets copy.test.txt --seed "$seed" \
      --after 2Ku --schedule.total 2000 --optimizer.beta2 0.999 --clip-norm 0.1 --valid-freq 250u --save-freq 250u ||
      continue
    score "copy-$seed" copy --model "copy-$seed" -i copy80.txt
    finish "copy-$seed"
  done
}

hull() {
  local points
  once hull.txt "$heed" corpus hull -n 1000000 --held-out 10000 -o hull
  for points in 5 10; do
    once "hull$points.txt" "$heed" corpus hull -n 10000 --elements "$points" "$points" --seed 2 -o "hull$points"
  done
  train_unscored hull hull-pointer-network.toml --train-sets hull.txt --valid-sets hull.test.txt || return 0
  for points in 5 10; do
    score hull point --model hull --beam-size 4 --area -i "hull$points.txt"
  done
  finish hull
}

cloze() {
  local seed attention name
  local -a questions=("$data"/cft.test.{auto,human}.txt.gz)
  need "${questions[@]}"
  once cft.train.txt python3 "$root/tools/split_cloze.py" cft "${questions[@]}"
  for seed in 1 2 3; do
    for attention in attention_over_attention sum; do
      name=cloze-$attention-$seed
      train_unscored "$name" cft-aoa.toml --train-sets cft.train.txt --valid-sets cft.valid.txt \
        --reader.attention "$attention" --seed "$seed" || continue
      score "$name" read --model "$name" -i cft.test.txt
      finish "$name"
    done
  done
}

captions() {
  local -A attentions=([soft]=bahdanau [hard]="hard score=additive" [gumbel]="gumbel score=additive")
  local -a training=("$data"/train-{images-idx3,labels-idx1}-ubyte.gz) test=("$data"/t10k-{images-idx3,labels-idx1}-ubyte.gz)
  local name
  need "${training[@]}" "${test[@]}"
  once captions.idx "$heed" corpus captions "${training[@]}" -n 20000 -o captions
  once check.idx "$heed" corpus captions "${training[@]}" -n 1000 --seed 2 -o check
  once held-out.idx "$heed" corpus captions "${test[@]}" -n 1000 -o held-out
  for name in soft hard gumbel; do
    train_unscored "captions-$name" captions.toml --train-sets captions.idx captions.txt --valid-sets check.idx check.txt \
      --captioner.attention "${attentions[$name]}" || continue
    score "captions-$name" caption --model "captions-$name" --set held-out.idx --references held-out.txt \
      --boxes held-out.boxes
    finish "captions-$name"
  done
}

glimpses() {
  local -a training=("$data"/train-{images-idx3,labels-idx1}-ubyte.gz) test=("$data"/t10k-{images-idx3,labels-idx1}-ubyte.gz)
  need "${training[@]}" "${test[@]}"
  train_unscored glimpses mnist-glimpses.toml --train-sets "${training[@]}" || return 0
  score glimpses recognise --model glimpses/checkpoint_last --set "${test[@]}"
  finish glimpses
}

pictures() {
  local -A attentions=([plain]=none [non_local]=non_local)
  local seed form
  need "$data"/{train4k,test1k}.bin.gz
  once train.bin sh -c "gzip -dc '$data/train4k.bin.gz' > train.bin"
  once test.bin sh -c "gzip -dc '$data/test1k.bin.gz' > test.bin"
  for seed in 1 2 3; do
    for form in plain non_local; do
      train_unscored "resnet-$form-$seed" cifar10-resnet.toml --train-sets train.bin --resnet.attention "${attentions[$form]}" \
        --seed "$seed" || continue
      score "resnet-$form-$seed" recognise --model "resnet-$form-$seed/checkpoint_last" --set test.bin
      finish "resnet-$form-$seed"
    done
  done
}

case $table in
  copy | hull | cloze | captions | glimpses | pictures) "$table" ;;
  *) usage ;;
esac
