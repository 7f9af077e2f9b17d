#!/bin/sh
# SPDX-License-Identifier: MIT
# run_batt from outside: the same standard output for every number of threads and processes, the
# choice of tasks, the time limit, the log, and clean errors. Usage: command.sh RUN_BATT DATA
run_batt=$1
data=$2
status=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail() {
    echo "command.sh: $1"
    status=1
}

# expect CODE TEXT ARGS…: the exit status, and a text in what it prints.
expect() {
    code=$1
    text=$2
    shift 2
    "$run_batt" "$@" >"$work/out" 2>&1
    got=$?
    [ $got = "$code" ] || fail "run_batt $*: exit $got, not $code"
    [ -z "$text" ] || grep -q -- "$text" "$work/out" || fail "run_batt $*: no '$text' in: $(head -3 "$work/out")"
}

"$run_batt" -c 16 --seed 3 >"$work/alone" 2>"$work/errors" || fail "16 tasks: exit $?"
[ -s "$work/errors" ] && fail "standard error is not empty"
for how in "-j 1" "-j 4" "--processes 3" "--processes 2 -j 2" "--timing"; do
    # shellcheck disable=SC2086
    "$run_batt" -c 16 --seed 3 $how >"$work/other" 2>/dev/null
    cmp -s "$work/alone" "$work/other" || fail "other output with $how"
done
tail -1 "$work/alone" | grep -q '^accuracy 1[456]/16 ' || fail "$(tail -1 "$work/alone")"

# A part of the tasks is the same as those lines of the whole.
"$run_batt" -s 4 -c 3 --seed 3 | head -3 >"$work/part"
sed -n 5,7p "$work/alone" | cmp -s - "$work/part" || fail "-s and -c choose other tasks"
first=$(sed -n '2s/ .*//p' "$work/alone")
second=$(sed -n '5s/ .*//p' "$work/alone")
"$run_batt" --generate 16 -i "$first" "$second" --seed 3 | head -2 >"$work/part"
sed -n '2p;5p' "$work/alone" | cmp -s - "$work/part" || fail "-i chooses other tasks"

expect 0 'accuracy 4/4 100.00%' --data "$data"
expect 0 'accuracy 4/4 100.00%' --data "$data" --processes 8 -j 3
mkdir "$work/dump"
expect 0 '' --generate 6 --dump "$work/dump"
expect 0 'tasks 6 ' --data "$work/dump"
expect 0 'timed out [1-9]' -s 12 -c 1 -t 0.00001
expect 0 'phase solver execution' -c 1 --timing

expect 0 'accuracy 1/1' -c 1 --log="$work/log"
grep -q 'dsl DEBUG neighbors((' "$work/log" || fail "no call of neighbors in the log"
grep -q 'dsl DEBUG o_g(grid ' "$work/log" || fail "no call of o_g in the log"
expect 0 'accuracy' -c 4 --log="$work/log" --processes 2 -j 2
grep -v '^[0-9-]* [0-9:]*,[0-9]* [0-9]* dsl DEBUG [a-z_0-9]*(.*)$' "$work/log" |
    grep -q . && fail "broken lines in the log of two processes"

expect 0 '^usage: run_batt' --help
expect 2 'unknown option' --nonsense
expect 2 'without its value' -c
expect 2 'bad value: 0' -c 0
expect 2 'bad value: x' -j x
expect 2 'bad value: -1' -t -1
expect 2 'unexpected argument: more' more
expect 2 'exclude each other' --data "$data" --generate 3
expect 1 'No such file' --data "$work/nowhere"
expect 1 'no ARC tasks' --data "$work/dump/.."
expect 1 'no task with id 12345678' -i 12345678
expect 1 'No such file' --log="$work/nowhere/log" -c 1
expect 1 'No such file' --dump "$work/nowhere" -c 1
exit $status
