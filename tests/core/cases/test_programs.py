# SPDX-License-Identifier: MIT
"""Programs of the system under preload: the same stdout, stderr and status. Each runs with libc's
waits and file I/O intercepted, and some with whole libraries hooked."""
from harness import *

GIT = """
export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' HOME=$PWD
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
git init -q -b main r && cd r
for i in 1 2 3; do seq $i 1000 >f$i; git add .; git commit -qm "c $i"; done
git log --stat | cat; git diff HEAD~2 | head -50; git fsck 2>&1; git gc -q
git status -s; git grep -c 99
git clone -q . ../c; ls ../c
"""
MAKE = """
printf 'all: a b c d\\n%%: ; @echo $@ >$@.out; sleep 0.02\\n' >Makefile
make -j2 && cat *.out && make -s missing.x && make -f none; echo $?
"""
GCC = """
printf '#include <stdio.h>\\nint main(void) { puts("compiled"); return 5; }\\n' >a.c
gcc -O2 -Wall -o a a.c && ./a; echo $?; gcc -c none.c; gcc -E -dM a.c | sort | md5sum
"""
BASH = """
set -o pipefail
f() { local i=$1; if [ $i -gt 0 ]; then echo $i; f $((i - 1)); fi; }
f 20; for i in {1..50}; do echo $i; done | while read x; do echo $((x * x)); done | tail -3
coproc cat; echo hello >&"${COPROC[1]}"; read -u "${COPROC[0]}" line; echo "$line"
diff <(seq 5) <(seq 6); trap 'echo bye' EXIT; { (kill -9 $BASHPID); echo $?; } 2>/dev/null
exec 9>fd9; echo x >&9; cat fd9; cat <<< "here"; false | true; exit 7
"""
PERL = """
$| = 1; my $pid = fork; if (!$pid) { print "child\\n"; exit 3 } waitpid $pid, 0;
print $? >> 8, "\\n";
print `echo sub`; my %h = map { $_ => $_ ** 2 } 1 .. 100; print join(",", map { $h{$_} } sort
{ $a <=> $b } keys %h), "\\n"; local $SIG{ALRM} = sub { die "alarm\\n" }; eval { alarm 1; sleep 5 };
print $@; select undef, undef, undef, 0.01; exit 4;
"""
PYTHON_TEXT = """
import asyncio, hashlib, json, os, subprocess, sys, threading, zlib, sqlite3, tempfile
async def f(n): await asyncio.sleep(0.01); return n
async def main(): print(sum(await asyncio.gather(*map(f, range(50)))))
asyncio.run(main())
print(hashlib.sha256(b"x" * 10**6).hexdigest(), len(zlib.compress(b"y" * 10**6)))
q = []; ts = [threading.Thread(target=q.append, args=(i,)) for i in range(20)]
[t.start() for t in ts]; [t.join() for t in ts]; print(sorted(q))
print(subprocess.check_output(["sh", "-c", "echo $0 x; exit 0"]))
db = sqlite3.connect(":memory:"); print(db.execute("select 6 * 7").fetchall())
pid = os.fork()
if pid == 0: os._exit(9)
print(os.waitpid(pid, 0)[1] >> 8)
def deep(n): return 0 if n == 0 else 1 + deep(n - 1)
print(deep(500)); sys.exit(6)
"""
TAR = """
mkdir d; for i in 1 2 3 4; do seq 1000 >d/$i; done
tar --sort=name --mtime=@0 --owner=0 --group=0 -czf a.tgz d; gzip -l a.tgz | tail -1 | cut -c-20
tar tzf a.tgz; mkdir e; tar xzf a.tgz -C e; diff -r d e/d && echo same; gzip -dc a.tgz | md5sum
head -c 300000 /dev/zero | gzip -9 | gunzip | wc -c; xz -c d/1 2>/dev/null | xz -dc | md5sum
"""
PIPES = """
seq 20000 | sort -R --random-source=/dev/zero | sort -n --parallel=2 | md5sum
find /usr/share/doc -maxdepth 1 | sort | xargs -n 20 -P 2 echo | wc -w
awk 'BEGIN { for (i = 0; i < 1e5; i++) s += i; print s; "echo x" | getline y; print y }'
yes | head -3; timeout 0.2 sleep 5; echo $?; nice -n 1 env -i /bin/echo clean; ls /none
dd if=/dev/zero bs=1k count=9 2>/dev/null | wc -c
"""


def runs(name, argv, tools=(), hook=None, **options):
    def go():
        for tool in tools:
            need(tool)
        run = pair(argv, hook=hook, timeout=120, **options)
        check(run.stdout, "the program printed nothing")
        check(run.files(), "no profile")
        run.report()
    go.__name__ = name
    case(go)


runs("bash", ["bash", "-c", BASH], ["bash"], expect=7)
runs("dash", ["sh", "-c", "x=$(echo a | cat); echo $x; (exit 3); echo $?; kill -TERM $$"],
     expect=-signal.SIGTERM)
runs("ls", ["ls", "-lR", "/etc"], stderr=False)
runs("pipes", ["sh", "-c", PIPES])
runs("git", ["sh", "-c", GIT], ["git"], expect=0)
runs("gcc", ["sh", "-c", GCC], ["gcc"], expect=0)
runs("make", ["sh", "-c", MAKE], ["make"], expect=0)
runs("perl", ["perl", "-e", PERL], ["perl"], expect=4)
runs("python", [PYTHON, "-c", PYTHON_TEXT], expect=6)
runs("tar_gzip", ["sh", "-c", TAR], ["tar", "gzip"], expect=0)
runs("openssl", ["sh", "-c", "seq 100000 | openssl dgst -sha256; openssl prime 1000003; "
                 "openssl version"], ["openssl"], expect=0)
# Whole system libraries hooked: thousands of functions with every kind of signature.
runs("git_with_libz", ["sh", "-c", GIT], ["git"], hook="libz.so*,libpcre2*", expect=0)
runs("python_with_sqlite", [PYTHON, "-c", PYTHON_TEXT], hook="libsqlite3*,libz*,libcrypto*",
     expect=6)
runs("openssl_with_libcrypto", ["sh", "-c", "seq 100000 | openssl dgst -sha256; "
     "openssl prime 1000003; echo x | openssl enc -aes-256-cbc -k y -S 0011223344556677 -pbkdf2 "
     "-a"], ["openssl"], hook="libcrypto*,libssl*", expect=0)
runs("sort_with_libcrypto", ["sh", "-c", "seq 1000 | sort -R --random-source=/dev/zero | md5sum"],
     hook="libcrypto*", expect=0)
runs("perl_with_libperl", ["perl", "-e", PERL], ["perl"], hook="libperl*,libcrypt*", expect=4)


main()
