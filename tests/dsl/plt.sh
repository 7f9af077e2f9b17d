#!/bin/sh
# SPDX-License-Identifier: MIT
# Calls between exported functions of libdsl.so must go through the PLT (a profiler patches those
# slots), and none of its exports may take a name from libc. Usage: plt.sh LIBDSL HEADER
lib=$1
header=$2
status=0

fail() {
    echo "plt.sh: $1"
    status=1
}

relocations=$(objdump -R "$lib" | awk '$2 ~ /JUMP_SLOT/ {sub(/@.*/, "", $3); print $3}') || exit 1
for name in objects objects_t o_g o_g_t neighbors dneighbors dsl_connect mostcolor palette ofcolor \
    recolor apply merge sfilter shift manhattan vmatching backdrop toindices difference crop \
    ulcorner lrcorner shape fill paint cover size color switch gravitate mapply dsl_log_call; do
    echo "$relocations" | grep -qx "$name" || fail "no JUMP_SLOT for $name in $lib"
done

readelf -d "$lib" | grep -q SYMBOLIC && fail "$lib is linked with -Bsymbolic"

exports=$(nm -D --defined-only "$lib" | awk '$2 == "T" {print $3}' | grep -v '^__\|^_init\|^_fini')
libc=$(ldd "$lib" | awk '$1 == "libc.so.6" {print $3}')
if [ -r "$libc" ]; then
    taken=$(nm -D --defined-only "$libc" | awk '{sub(/@.*/, "", $3); print $3}' | sort -u)
    for name in $exports; do
        echo "$taken" | grep -qx "$name" && fail "$name is an export of libc"
    done
fi

# The header lists what is exported, no more and no less.
listed=$(sed -n '/^DSL_API/,/;/p' "$header" | tr '\n' ' ' | tr ';' '\n' |
    sed -n 's/.*[ *]\([a-z_0-9]*\)(\(.*\)/\1/; /__asm__/s/.*/switch/; /^[a-z]/p' |
    sed 's/^switch_$/switch/' | sort -u)
[ "$listed" = "$(echo "$exports" | sort -u)" ] ||
    fail "dsl.h and the exports differ: $(printf '%s\n' "$listed" $exports | sort | uniq -u | tr '\n' ' ')"
exit $status
