#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh LIBBATTPROF CC COUNT SEED BUILDDIR
#
# Generates COUNT random signatures, builds library and caller in four ways, runs each bare and
# under LIBBATTPROF ("-": bare both times, which tests the harness) and compares output and exit
# status; then again where calls are only counted.
# CC may be several words ("ccache gcc"). With BATTPROF=path of the command in the environment the
# call counts are compared too.
# TORTURE_JOBS: compilers at a time (2). TORTURE_VARIANTS: some of "lazy now noplt nopie" (all).
set -eu

[ $# -eq 5 ] || { echo "usage: run.sh LIBBATTPROF CC COUNT SEED BUILDDIR" >&2; exit 2; }
lib=$1 cc=$2 count=$3 seed=$4 build=$5
here=$(cd "$(dirname "$0")" && pwd)
jobs=${TORTURE_JOBS:-2}
variants=${TORTURE_VARIANTS:-lazy now noplt nopie}
tool=${BATTPROF:-}
if [ "$lib" != - ]; then
    [ -f "$lib" ] || { echo "run.sh: $lib: no such library" >&2; exit 2; }
    lib=$(cd "$(dirname "$lib")" && pwd)/$(basename "$lib")
fi
case $tool in */*) tool=$(cd "$(dirname "$tool")" && pwd)/$(basename "$tool") ;; esac
unset LD_PRELOAD LD_BIND_NOW BATTPROF_HOOK BATTPROF_DIR

mkdir -p "$build"
build=$(cd "$build" && pwd)
src=$build/src
for dir in src obj lazy now noplt nopie; do
    rm -rf "${build:?}/$dir"
done
python3 "$here/generate.py" --seed "$seed" --count "$count" --out "$src"
cp "$here"/*.[chS] "$src"

# compile NAME FLAGS SOURCE...: objects in obj/NAME. -fsemantic-interposition: calls between
# exported functions go through the PLT in clang as they do in gcc.
compile() {
    name=$1 flags=$2
    shift 2
    mkdir -p "$build/obj/$name"
    for source; do
        printf '%s\n' "$source"
    done | (cd "$src" && xargs -P "$jobs" -I{} \
        $cc -O2 -w -Wno-psabi -fsemantic-interposition $flags -c {} -o "$build/obj/$name/{}.o")
}

lib_sources() {
    (cd "$src" && echo lib_*.c values.c types.c library.c registers.S)
}

caller_sources() {
    (cd "$src" && echo call_*.c values.c types.c caller.c callee.S)
}

# link VARIANT LIBRARY-OBJECTS CALLER-OBJECTS LINKER-FLAGS
link() {
    mkdir -p "$build/$1"
    $cc -shared $4 -Wl,-soname,libtorture.so -o "$build/$1/libtorture.so" "$build/obj/$2"/*.o
    case $1 in nopie) pie=-no-pie ;; *) pie=-pie ;; esac
    $cc $pie $4 '-Wl,-rpath,$ORIGIN' -o "$build/$1/torture" "$build/obj/$3"/*.o \
        -L"$build/$1" -ltorture -ldl
}

wants() {
    case " $variants " in *" $1 "*) return 0 ;; *) return 1 ;; esac
}

need() {
    for variant; do
        if wants "$variant"; then return 0; fi
    done
    return 1
}

lazy='-Wl,-z,lazy' now='-Wl,-z,now -Wl,-z,relro'
if need lazy now nopie; then compile lib-pic '-fPIC' $(lib_sources); fi
if need lazy now; then compile call-pie '-fPIE' $(caller_sources); fi
if need noplt; then
    compile lib-noplt '-fPIC -fno-plt' $(lib_sources)
    compile call-noplt '-fPIE -fno-plt -DTT_NO_PLT' $(caller_sources)
fi
if need nopie; then compile call-nopie '-fno-pie' $(caller_sources); fi
if wants lazy; then link lazy lib-pic call-pie "$lazy"; fi
if wants now; then link now lib-pic call-pie "$now"; fi
if wants noplt; then link noplt lib-noplt call-noplt "$now"; fi
if wants nopie; then link nopie lib-pic call-nopie "$lazy"; fi

failed=0
complain() {
    echo "FAIL $variant: $*"
    failed=1
}

# run NAME [VARIABLE=VALUE...]: output in NAME.out, the functions' own counts in NAME.json. The
# target runs in an empty directory, so that whatever the profiler leaves is found there; env(1)
# sets LD_PRELOAD so that timeout(1) is not profiled.
run() {
    name=$1
    shift
    mkdir -p "$build/$variant/$name"
    (cd "$build/$variant/$name" && exec timeout 120 env "$@" ../torture "../$name.json") \
        >"$build/$variant/$name.out" 2>"$build/$variant/$name.err"
}

run_profiled() {
    if [ "$lib" = - ]; then
        run profiled
    else
        run profiled LD_PRELOAD="$lib" BATTPROF_HOOK='libtorture*' \
            BATTPROF_DIR="$build/$variant/profiled" ${how:+"BATTPROF_EXACT=$how"}
    fi
}

compare() {
    dir=$build/$variant
    profiled=0
    rm -rf "$dir/profiled"
    run_profiled || profiled=$?
    [ $bare -eq 0 ] ||
        complain "exit status $bare without the profiler: $(grep -m1 FAIL "$dir/bare.out")"
    [ $bare -eq $profiled ] || complain "exit status $bare bare, $profiled under the profiler"
    if ! cmp "$dir/bare.out" "$dir/profiled.out"; then
        diff "$dir/bare.out" "$dir/profiled.out" >"$dir/diff" || :
        complain "output differs in $(grep -c '^>' "$dir/diff") lines, of which"
        head -n 20 "$dir/diff"
        tail -n 5 "$dir/profiled.err"
    fi
    cmp "$dir/bare.json" "$dir/profiled.json" ||
        complain "call counts of the functions themselves differ"
    if [ -n "$tool" ] && [ "$lib" != - ]; then
        if "$tool" report --json "$dir/profiled" >"$dir/report.json"; then
            python3 "$here/check_counts.py" "$dir/profiled.json" "$dir/report.json" ||
                complain "call counts"
        else
            complain "$tool report --json $dir/profiled: exit status $?"
        fi
    fi
    echo "$variant${how:+, counted}: $(tail -n 1 "$dir/profiled.out")"
}

for variant in $variants; do
    dir=$build/$variant bare=0
    run bare || bare=$?
    for how in '' 0; do
        compare
    done
done
exit $failed
