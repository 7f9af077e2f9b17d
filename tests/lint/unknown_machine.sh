#!/bin/sh
# SPDX-License-Identifier: MIT
# On a machine that the library does not know it says so in one line and stays out of the way.
# Arguments: the library built for such a machine.
out=$(LD_PRELOAD=$1 sh -c 'echo fine; exit 5' 2>err.$$)
status=$?
err=$(cat err.$$)
rm -f err.$$
lines=$(printf '%s\n' "$err" | wc -l)
echo "status $status, stdout '$out', stderr '$err'"
[ "$status" = 5 ] && [ "$out" = fine ] && [ "$lines" = 1 ] &&
    case $err in "battprof: this machine is not x86-64"*) true ;; *) false ;; esac
