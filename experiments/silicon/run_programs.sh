#!/usr/bin/env bash
# Runs the executables of programs.tar.xz on the GPU of this machine, then profiles each with ncu.
#
#     [BUDGET=200] [METRICS=name,name] run_programs.sh FOLDER
#
# This script's folder contains programs.tar.xz (executables, commands.txt, CUDA's runtime); the folder above contains
# metrics.txt and filter_metrics.sh. FOLDER gets programs.tar.xz: plain.csv (name, exit status, seconds of a run without ncu), plain/, profiles/
# (a CSV per program, as ncu writes it), profiled.csv, metrics.used and versions.txt.
#
# BUDGET     seconds for all; what is not reached is written down                (200)
# METRICS    the metrics, joined by commas; else those of metrics.txt that ncu has
# LAUNCHES   launches profiled of a program, at most                             (8)
# FIRST      of each kernel the first so many invocations; 0: all                (2)
# AT_ONCE    programs under ncu at a time; with several, copies of one program count in another's DRAM sectors  (1)
# LIMIT      seconds of a program under ncu                                      (25)
set -u
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
export BUDGET=${BUDGET:-200} LAUNCHES=${LAUNCHES:-8} FIRST=${FIRST:-2} LIMIT=${LIMIT:-25}
start=$(date +%s)
export deadline=$((start + BUDGET))
work=$(mktemp -d)
export work
trap 'rm -rf "$work"' EXIT
tar -xJf "$here/programs.tar.xz" -C "$work"
libraries=$work/programs # the carried runtime first; cuBLAS and the like from a toolkit or NVIDIA's wheels
for one in /usr/local/cuda*/lib64 $(python3 -c 'import nvidia; print(*(f"{one}/cu13/lib" for one in nvidia.__path__))' 2>/dev/null); do
  [ ! -d "$one" ] || libraries=$libraries:$one
done
export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
mkdir -p "$work/out/plain" "$work/out/profiles"
cd "$work/out"

plain() { # NAME ARGUMENT...: a run without ncu
  [ "$(date +%s)" -lt $((deadline - BUDGET * 3 / 4)) ] || return 0
  local name=$1 begin folder
  shift
  folder=$(mktemp -d "$work/run.XXXXXX")
  begin=$(date +%s.%N)
  (cd "$folder" && timeout -k 1 10 "$work/programs/$name" "$@" </dev/null 2>&1 | head -c 4000 >"$work/out/plain/$name.txt"
    exit "${PIPESTATUS[0]}")
  echo "$name,$?,$(echo "$(date +%s.%N) $begin" | awk '{ printf "%.2f", $1 - $2 }')" >>"$work/out/plain.csv"
  rm -rf "$folder"
}

profile() { # NAME ARGUMENT...: its first launches under ncu
  local name=$1 left folder status ending=no kernels=()
  shift
  left=$((deadline - $(date +%s)))
  if [ "$left" -lt 4 ]; then
    echo "$name,not reached" >>"$work/out/profiled.csv"
    return 0
  fi
  [ "$left" -lt "$LIMIT" ] || left=$LIMIT
  [ "$FIRST" -eq 0 ] || kernels=(--kernel-id ":::$(seq -s '|' 0 "$FIRST")")
  grep -q "^$name,0,[0-2]\." "$work/out/plain.csv" || ending=yes # a long one: its end is not awaited
  folder=$(mktemp -d "$work/run.XXXXXX")
  (cd "$folder" && timeout -k 2 "$left" ncu --clock-control none --metrics "$METRICS" --csv --page raw --print-units base \
    --print-kernel-base mangled \
    "${kernels[@]}" --launch-count "$LAUNCHES" --kill "$ending" --log-file "$work/out/profiles/$name.csv" \
    "$work/programs/$name" "$@" </dev/null >/dev/null 2>&1)
  status=$?
  rm -rf "$folder"
  echo "$name,$status,$(($(rows "$name")))" >>"$work/out/profiled.csv"
}

rows() { # launches in a program's profile
  grep -c '^"[0-9]' "$work/out/profiles/$1.csv" 2>/dev/null || true
}
export -f plain profile rows

echo "name,status,seconds" >plain.csv
echo "name,status,launches" >profiled.csv
{ ncu --version; nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem --format=csv; } \
  >versions.txt 2>&1
xargs -P 8 -d '\n' -I LINE bash -c 'plain LINE' <"$work/programs/commands.txt"
echo "$(awk -F, '$2 == 0' plain.csv | wc -l) of $(wc -l <"$work/programs/commands.txt") programs end well, $(($(date +%s) - start)) s"

# Those that end well first, then those that were not run, then those with another status; none that had to be ended.
awk -F, 'NR == FNR { status[$1] = $2; next }
  { split($0, words, " "); name = words[1]; rank = !(name in status) ? 1 : status[name] == 0 ? 0 : status[name] < 124 ? 2 : 9
    if (rank < 9) print rank "\t" FNR "\t" $0 }' plain.csv "$work/programs/commands.txt" | sort -n -k1,1 -k2,2 | cut -f3 >order.txt
export METRICS=${METRICS:-$(mapfile -t first < <(head -n 1 order.txt | tr ' ' '\n')
  "$here/../filter_metrics.sh" "$here/../metrics.txt" "$work/programs/${first[0]}" "${first[@]:1}" 2>metrics.dropped)}
echo "$METRICS" | tr , '\n' >metrics.used

# Does this ncu take the choice of invocations? The first programs tell.
chosen=$FIRST tried=0
while [ "$FIRST" -gt 0 ] && [ "$tried" -lt 3 ] && read -r -a first; do
  tried=$((tried + 1))
  profile "${first[@]}"
  [ "$(($(rows "${first[0]}")))" -eq 0 ] || break
  FIRST=0 profile "${first[@]}"
  if [ "$(($(rows "${first[0]}")))" -gt 0 ]; then
    chosen=0
    echo "ncu profiles nothing with --kernel-id; the first $LAUNCHES launches of each program are profiled"
    break
  fi
done <order.txt
export FIRST=$chosen
[ "$tried" -eq 0 ] || sed -i "1,${tried}d" order.txt
xargs -P "${AT_ONCE:-1}" -d '\n' -I LINE bash -c 'profile LINE' <order.txt

echo "$(awk -F, 'NR > 1 && $3 > 0' profiled.csv | wc -l) programs profiled, $(awk -F, 'NR > 1 { n += $3 } END { print n + 0 }' profiled.csv) launches," \
  "$(grep -c 'not reached' profiled.csv) not reached, $(($(date +%s) - start)) s"
tar -cJf "$out/programs.tar.xz" -C "$work/out" .
ls -l "$out/programs.tar.xz"
