#!/usr/bin/env bash
# Packs the executables of `python -m experiments.silicon build` and CUDA's runtime for another machine.
#
#     pack_programs.sh FOLDER LIBCUDART TARGET      # writes TARGET/programs.tar.xz and TARGET/run_programs.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/programs"
cp -L "$2" "$work/programs/"
cp "$1/commands.txt" "$work/programs/"
while read -r name _; do cp "$1/$name" "$work/programs/"; done <"$1/commands.txt"
tar -cJf "$3/programs.tar.xz" -C "$work" programs
cp "$here/run_programs.sh" "$3/"
ls -l "$3/programs.tar.xz"
