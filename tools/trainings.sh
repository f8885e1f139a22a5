# What the scripts that train the tables of docs/ share; they source it. A run is a folder with its
# log beside it. It continues where it was stopped.
#
# Sets script, root, heed (the program; HEED names another one) and flags (for every training).
script=$(realpath "$0")
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
heed=$(realpath "${HEED:-$root/build/release/heed}")
flags=()

# usage: the comment at the beginning of the script.
usage() {
  sed -n '2,/^set/s/^# \{0,1\}//p' "$script" >&2
  exit 2
}

# train FOLDER CONFIG FLAG…: trains until the end. A training that fails or is interrupted ends the
# script.
train() {
  local folder=$1 config=$root/configs/$2
  local -a again=()
  shift 2
  [[ -e $folder/checkpoint_last ]] && again=(--resume)
  if ! "$heed" train -c "$config" --model "$folder" "$@" "${flags[@]}" "${again[@]}" >>"$folder.log" 2>&1 ||
    [[ $(tail -n 1 "$folder.log") == interrupted* ]]; then
    tail -n 3 "$folder.log" >&2
    exit 1
  fi
}

# once FILE COMMAND…: a corpus, once.
once() {
  local file=$1
  shift
  [[ -s $file ]] || "$@" >/dev/null
}
