#!/usr/bin/env bash
# Trains forms of attention on Multi30k German to English and scores them on the test set: those of
# Luong et al. 2015 over configs/multi30k-luong.toml, Shaw et al.'s clipping distances over
# configs/multi30k-transformer.toml, and the translators of five papers, each over its own config.
#
#   tools/multi30k_forms.sh luong|shaw|papers DATA OUT [FLAG…]
#
# DATA has train, valid and test with .de and .en, lower-cased words between spaces (docs/quality.md).
# OUT/NAME is the folder of a run, OUT/NAME.bleu its score. A run that was stopped continues; one that
# has a score is left alone. FLAGs go to every training: --seed 2, --after 5u. The translators of
# papers are scored with greedy search, as those they are compared with.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/trainings.sh"
(($# >= 3)) || usage
table=$1 data=$2 out=$3
flags=("${@:4}")
beam=5
mkdir -p "$out"

# run NAME CONFIG FLAG…
run() {
  local model=$out/$1 config=$2
  shift 2
  [[ -s $model.bleu ]] && return
  train "$model" "$config" --train-sets "$data/train.de" "$data/train.en" \
    --valid-sets "$data/valid.de" "$data/valid.en" "$@"
  "$heed" translate --model "$model" --beam-size $beam -i "$data/test.de" -o "$model.out"
  "$heed" score "$data/test.en" -i "$model.out" --tokenize none --force >"$model.bleu.part"
  mv "$model.bleu.part" "$model.bleu"
  printf '%s: %s\n' "${model##*/}" "$(sed -n 's/.*"score": \([0-9.]*\).*/BLEU \1/p' "$model.bleu")"
}

luong() {
  local config=multi30k-luong.toml reach score
  run base "$config" --recurrent.attention none --recurrent.feeding none --recurrent.readout state
  run global "$config" --recurrent.attention "global score=general" --recurrent.feeding none
  for reach in global local_m local_p; do
    for score in dot general location; do
      run "$reach-$score-feeding" "$config" --recurrent.attention "$reach score=$score"
    done
  done
}

shaw() {
  local clip
  for clip in 0 1 2 4 16; do
    run "shaw-$clip" multi30k-transformer.toml --transformer.positions "shaw clip=$clip"
  done
}

papers() {
  local model
  beam=1
  for model in gru lstm bahdanau transformer convolutional; do
    run "$model" "multi30k-$model.toml"
  done
}

case $table in
  luong | shaw | papers) "$table" ;;
  *) usage ;;
esac
