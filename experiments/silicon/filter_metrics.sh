#!/usr/bin/env bash
# The metrics of a list that this machine's ncu has, joined by commas; what is dropped goes to standard error.
#
#     filter_metrics.sh METRICS.txt [PROGRAM ARGUMENT...] > list
#
# ncu profiles nothing if it does not know one name. The names are looked up in ncu's own list for the chip (CHIP, gh100);
# with a program, whose first launch is then profiled, also those that ncu lists and cannot collect are found, by halves.
set -u
file=$1
shift
known=$(mktemp) said=$(mktemp)
trap 'rm -f "$known" "$said"' EXIT
for kind in profiling launch; do
  ncu --query-metrics --query-metrics-collection "$kind" --chips "${CHIP:-gh100}" 2>/dev/null
done | awk '$1 ~ /^[a-z0-9]+__/ { print $1 }' | sort -u >"$known"
if [ ! -s "$known" ]; then # an ncu without kinds of metrics
  ncu --query-metrics --chips "${CHIP:-gh100}" 2>/dev/null | awk '$1 ~ /^[a-z0-9]+__/ { print $1 }' >"$known"
fi
[ -s "$known" ] || echo "ncu lists no metrics; each of $file is kept" >&2
has_launch=$(grep -c '^launch__' "$known")

has() { # whether ncu lists a metric's base name
  [ -s "$known" ] || return 0
  case $1 in launch__*) [ "$has_launch" -gt 0 ] || return 0 ;; esac
  grep -qxF "${1%%.*}" "$known"
}

names=()
while read -r line; do
  line=${line%%#*} found=
  for name in ${line//|/ }; do
    if [ -z "$found" ] && has "$name"; then found=$name; fi
  done
  if [ -n "$found" ]; then names+=("$found"); elif [ -n "${line// /}" ]; then echo "no metric: $line" >&2; fi
done <"$file"

joined() { (IFS=,; echo "$*"); }

collected() { # whether ncu collects these metrics of the program's first launch
  timeout 60 ncu --clock-control none --metrics "$(joined "$@")" --csv --page raw --launch-count 1 --log-file "$said" \
    "${program[@]}" </dev/null >/dev/null 2>&1
  grep -q '^"ID"' "$said" && ! grep -q '==ERROR==' "$said"
}

halves() { # appends to good what can be collected of these
  if collected "$@"; then
    good+=("$@")
  elif [ $# -eq 1 ]; then
    echo "not collected: $1 ($(grep -m1 '==ERROR==' "$said"))" >&2
  else
    halves "${@:1:$(($# / 2))}"
    halves "${@:$(($# / 2 + 1))}"
  fi
}

program=("$@") good=()
if [ $# -eq 0 ]; then
  good=("${names[@]}")
elif collected gpu__time_duration.sum; then
  halves "${names[@]}"
else
  echo "ncu does not profile ${program[*]}: $(tail -n 3 "$said" | tr '\n' ' ')" >&2
  good=("${names[@]}")
fi
joined "${good[@]}"
