#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write a library of functions with random C signatures, and the program that calls them.

The same seed and count give the same files, byte for byte. Per function the code is small (one call
hashes all arguments through a table of atoms), because several thousand are compiled five times.
The parts that are not random are the C and assembly files beside this script.
"""

import argparse
import os
import random

FUNCTIONS_PER_FILE = 100
INT, BOOL, F32, F64, F80 = "TT_INT", "TT_BOOL", "TT_F32", "TT_F64", "TT_F80"
PTR, DEPTH = "TT_PTR", "TT_DEPTH"

# What may be a member: C type, kind of its atoms, bytes of an atom, atoms, alignment.
MEMBERS = {
    "u8": ("uint8_t", INT, 1, 1, 1), "i8": ("int8_t", INT, 1, 1, 1),
    "u16": ("uint16_t", INT, 2, 1, 2), "i16": ("int16_t", INT, 2, 1, 2),
    "u32": ("uint32_t", INT, 4, 1, 4), "i32": ("int32_t", INT, 4, 1, 4),
    "u64": ("uint64_t", INT, 8, 1, 8), "i64": ("int64_t", INT, 8, 1, 8),
    "bool": ("_Bool", BOOL, 1, 1, 1), "ptr": ("char *", PTR, 8, 1, 8),
    "f32": ("float", F32, 4, 1, 4), "f64": ("double", F64, 8, 1, 8),
    "f80": ("long double", F80, 16, 1, 16),
    "c32": ("_Complex float", F32, 4, 2, 4), "c64": ("_Complex double", F64, 8, 2, 8),
    "c80": ("_Complex long double", F80, 16, 2, 16),
    "i128": ("__int128", INT, 16, 1, 16), "f128": ("__float128", INT, 16, 1, 16),
}
INTEGERS = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "bool", "ptr"]
FLOATS = ["f32", "f32", "f64", "c32"]
MAX_STRUCT = 48


class Type:
    """A C type with what the generator and values.c need to know of it."""

    def __init__(self, name, definition, atoms, family, level=0, variadic=False, in_memory=False,
                 combine=None):
        self.name = name
        self.definition = definition
        self.atoms = atoms  # (offset expression, kind, bytes)
        self.family = family
        self.level = level  # 1 needs AVX2, 2 needs AVX-512F
        self.variadic = variadic  # va_arg can fetch it, no promotion
        self.in_memory = in_memory
        self.combine = combine  # operator that puts an argument into a result of this type
        self.index = None


def member_atoms(base, kind, size, count):
    return [("%s + %d" % (base, i * size), kind, size) for i in range(count)]


def scalar_types():
    variadic = {"u32", "i32", "u64", "i64", "ptr", "f64", "f80", "c32", "c64"}
    names = dict(INTEGER=INTEGERS + ["i128"], FLOAT=["f32", "f64"], X87=["f80"], QUAD=["f128"],
                 COMPLEX=["c32", "c64", "c80"])
    for family, members in names.items():
        for m in members:
            c, kind, size, count, _ = MEMBERS[m]
            combine = {"INTEGER": "^=", "QUAD": None}.get(family, "+=")
            if m in ("ptr", "bool"):
                combine = None
            yield Type("tt_" + m, "typedef %s tt_%s;" % (c, m),
                       member_atoms("0", kind, size, count),
                       "POINTER" if m == "ptr" else family, variadic=m in variadic,
                       combine=combine)
    yield Type("tt_u128", "typedef unsigned __int128 tt_u128;", [("0", INT, 16)], "INTEGER",
               combine="^=")
    yield Type("tt_enum", "typedef enum { TT_E0, TT_EBIG = 0x7fffffff } tt_enum;", [("0", INT, 4)],
               "INTEGER")
    yield Type("tt_depth", "typedef unsigned tt_depth;", [("0", DEPTH, 4)], "DEPTH")
    for cb in ("u64", "double", "mixed"):
        yield Type("tt_pcall_" + cb, "typedef tt_call_%s *tt_pcall_%s;" % (cb, cb),
                   [("0", "TT_CALL_" + cb.upper(), 8)], "CALLBACK")


def vector_types():
    for size, level in ((8, 0), (16, 0), (32, 1), (64, 2)):
        for element, kind, width in (("float", F32, 4), ("double", F64, 8), ("int", INT, 4),
                                     ("char", INT, 1)):
            if size == 8 and kind == F64:
                continue
            name = "tt_v%d%s" % (size, element)
            atoms = [("0", INT, size)]
            if kind != INT:
                atoms = member_atoms("0", kind, width, size // width)
            definition = "typedef %s %s __attribute__((vector_size(%d)));" % (element, name, size)
            yield Type(name, definition, atoms, "VECTOR", level,
                       combine="^=" if kind == INT else "+=")
            if size >= 16 and element == "float":
                yield Type(name + "_s", "typedef struct { %s v; } %s_s;" % (name, name), atoms,
                           "VECTOR", level)


def layout(members, packed, union):
    """Size and alignment of [(name, array length or 0)]."""
    end = align = 0
    for name, length in members:
        _, _, size, count, want = MEMBERS[name]
        want = 1 if packed else want
        align = max(align, want)
        bytes_ = size * count * (length or 1)
        if union:
            end = max(end, bytes_)
        else:
            end = (end + want - 1) // want * want + bytes_
    align = max(align, 1)
    return (end + align - 1) // align * align, align


def make_struct(number, members, packed=False, union=False, align=0, pick=0):
    name = "tt_s%d" % number
    fields, atoms = [], []
    size, natural = layout(members, packed, union)
    for i, (member, length) in enumerate(members):
        c, kind, width, count, _ = MEMBERS[member]
        fields.append("%s m%d%s;" % (c, i, "[%d]" % length if length else ""))
        if union and i != pick:
            continue
        atoms += member_atoms("offsetof(%s, m%d)" % (name, i), kind, width, count * (length or 1))
    attributes = "".join([" __attribute__((packed))" if packed else "",
                          " __attribute__((aligned(%d)))" % align if align else ""])
    align = max(align, natural)
    size = (size + align - 1) // align * align
    definition = "typedef %s { %s }%s %s;" % ("union" if union else "struct", " ".join(fields),
                                             attributes, name)
    # gcc 12 fetches a 16-aligned struct from the 8-aligned register save area with movdqa.
    variadic = align <= 8 or align == 16 and size > 16
    return Type(name, definition, atoms, "STRUCT", variadic=variadic, in_memory=size > 16)


def random_members(rng, pool, limit, packed=False, union=False):
    members = []
    for _ in range(rng.randint(1, 8)):
        member = rng.choice(pool), rng.choice((0, 0, 0, 0, 2, 3, 5))
        if layout(members + [member], packed, union)[0] <= limit:
            members.append(member)
    return members or [("u8", 0)]


def odd_members(rng, size):
    members = []
    while size:
        fitting = [m for m in INTEGERS + FLOATS if MEMBERS[m][2] * MEMBERS[m][3] <= size]
        member = rng.choice(fitting)
        members.append((member, 0))
        size -= MEMBERS[member][2] * MEMBERS[member][3]
    rng.shuffle(members)
    return members


def struct_types(rng):
    number = 0
    fixed = [[("f80", 0)], [("c80", 0)], [("f64", 0), ("i64", 0)], [("i64", 0), ("f64", 0)],
             [("f32", 0), ("i32", 0), ("f64", 0)], [("f64", 2)], [("f32", 3)], [("f32", 4)],
             [("c32", 0), ("c32", 0)], [("i128", 0)], [("f128", 0)], [("u64", 0), ("ptr", 0)],
             [("f32", 0)], [("f64", 0), ("f32", 0)], [("f64", 3)], [("u64", 3)], [("c64", 0)],
             [("f80", 0), ("u8", 0)], [("f80", 2)], [("i128", 0), ("f64", 0)]]
    fixed += [[("u8", n)] for n in (1, 2, 3, 5, 6, 7, 9, 11, 13, 15, 16, 17, 23, 31, 48)]
    for members in fixed:
        yield make_struct(number, members)
        number += 1
    for size in (3, 5, 7, 9, 11, 13, 17, 3, 5, 7, 9, 11, 13, 17, 19, 29, 47):
        yield make_struct(number, odd_members(rng, size), packed=True)
        number += 1
    everything = INTEGERS + FLOATS * 3
    for pool, limit, count in ((everything, 16, 40), (everything, MAX_STRUCT, 25), (FLOATS, 16, 12),
                               (FLOATS, MAX_STRUCT, 6), (everything + ["f80"] * 9, MAX_STRUCT, 12),
                               (list(MEMBERS), MAX_STRUCT, 8)):
        for _ in range(count):
            yield make_struct(number, random_members(rng, pool, limit))
            number += 1
    for align in (8, 16, 16, 32, 32, 64):
        yield make_struct(number, random_members(rng, everything, 24), align=align)
        number += 1
    for limit in (4, 8, 8, 16, 16, 16, 16, 16, 24, 32, 48):
        pool = [m for m in everything + ["f80", "i128"] if MEMBERS[m][2] * MEMBERS[m][3] <= limit]
        members = random_members(rng, pool, limit, union=True)
        yield make_struct(number, members, union=True, pick=rng.randrange(len(members)))
        number += 1
    # Bit-fields without padding, so that all bytes count.
    for width, fields in ((4, "unsigned a : 5, b : 11; int c : 16;"),
                          (8, "int64_t a : 40; uint64_t b : 23, c : 1;"),
                          (16, "uint64_t a : 64; unsigned b : 31, c : 1; int d : 32;")):
        name = "tt_s%d" % number
        yield Type(name, "typedef struct { %s } %s;" % (fields, name), [("0", INT, width)],
                   "STRUCT", variadic=True)
        number += 1
    yield Type("tt_empty", "typedef struct { } tt_empty;", [], "STRUCT")


class Function:
    def __init__(self, number):
        self.number = number
        self.name = "t_%06d" % number
        self.kind = "plain"  # plain, variadic, tail, nest, recursive
        self.ret = None  # None is void
        self.fixed = []
        self.trailing = []
        self.other = None  # the function that tail and nest call
        self.copy_at = None  # va_copy before this trailing argument
        self.address = "plt"  # where the program takes the address from
        self.direct = False  # the last call is written as a plain call

    @property
    def args(self):
        return self.fixed + self.trailing

    @property
    def level(self):
        return max([t.level for t in self.args] + [self.ret.level if self.ret else 0])

    def result(self):
        return self.ret.name if self.ret else "void"

    def prototype(self, name, names=False):
        args = ["%s a%d" % (t.name, i) if names else t.name for i, t in enumerate(self.fixed)]
        if self.kind == "variadic":
            args.append("...")
        return "%s %s(%s)" % (self.result(), name, ", ".join(args) or "void")

    def target(self):
        return ("", '__attribute__((target("avx2"))) ',
                '__attribute__((target("avx512f"))) ')[self.level]

    def call(self, name):
        return "%s(%s)" % (name, ", ".join("a%d" % i for i in range(len(self.args))))

    def pointers(self):
        return "void *p[] = {%s};" % ", ".join("&a%d" % i for i in range(len(self.args)))


class Maker:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.types = list(scalar_types()) + list(vector_types()) + list(struct_types(self.rng))
        for i, t in enumerate(self.types):
            t.index = i + 1  # 0 is void
        self.depth = next(t for t in self.types if t.family == "DEPTH")
        self.families = {}
        for t in self.types:
            self.families.setdefault((t.family, t.level), []).append(t)
        self.variadic = [t for t in self.types if t.variadic]
        self.functions = []

    def random_type(self, level, result=False):
        weights = dict(INTEGER=26, POINTER=4, FLOAT=18, X87=6, QUAD=2, COMPLEX=8, VECTOR=7,
                       STRUCT=26, CALLBACK=0 if result else 2)
        family = self.rng.choices(list(weights), list(weights.values()))[0]
        if family == "VECTOR":
            vectors = [v for (f, n), v in self.families.items() if f == family and n <= level]
            return self.rng.choice(self.rng.choice(vectors))
        return self.rng.choice(self.families[family, 0])

    def wide_type(self, level):
        return self.rng.choice(self.families["VECTOR", level])

    def random_signature(self, f, level):
        rng = self.rng
        count = rng.choice((rng.randint(0, 6), rng.randint(0, 12), rng.randint(0, 24)))
        f.ret = None if rng.random() < 0.06 else self.random_type(level, result=True)
        f.fixed = [self.random_type(level) for _ in range(count)]
        if level and rng.random() < 0.5:
            f.ret = self.wide_type(level)
        if level and (rng.random() < 0.5 or f.level < level):
            f.fixed.insert(rng.randint(0, count), self.wide_type(level))
        # One eighth of one kind of argument: fills a class of registers and spills it.
        if not level and rng.random() < 0.12:
            f.fixed = [self.random_type(0)] * max(count, 1)

    def random_function(self, number):
        rng = self.rng
        f = Function(number)
        kinds = dict(plain=66, variadic=15, tail=9, nest=4, recursive=6)
        f.kind = rng.choices(list(kinds), list(kinds.values()))[0]
        level = rng.choices((0, 1, 2), (90, 7, 3))[0]
        others = [o for o in self.functions[-300:] if o.kind != "variadic"]
        if f.kind in ("tail", "nest") and others:
            f.other = rng.choice(others)
            f.ret, f.fixed = f.other.ret, list(f.other.fixed)
        else:
            f.kind = "plain" if f.kind in ("tail", "nest") else f.kind
            self.random_signature(f, level)
        if f.kind == "recursive":
            f.fixed.insert(0, self.depth)
        if f.kind == "variadic":
            # clang 14 finds no variadic argument behind a __float128.
            f.fixed = [t for t in f.fixed if "__float128" not in t.definition][:10]
            f.fixed = f.fixed or [self.families["INTEGER", 0][0]]
            f.trailing = [rng.choice(self.variadic) for _ in range(rng.randint(0, 10))]
            if rng.random() < 0.4:  # the usual ones, printf's way
                names = ("tt_i32", "tt_i64", "tt_f64", "tt_f64", "tt_f80")
                usual = [t for t in self.variadic if t.name in names]
                f.trailing = [rng.choice(usual) for _ in f.trailing]
            f.copy_at = rng.randint(0, len(f.trailing)) if rng.random() < 0.3 else None
        f.address = rng.choices(("plt", "got", "data", "dlsym"), (50, 25, 19, 6))[0]
        f.direct = f.address in ("plt", "got") and rng.random() < 0.4
        self.functions.append(f)


def forward_body(f):
    """Ends in a jump where the compiler can make one: takes no address of an argument."""
    lines = ["tt_count[TT_FIRST + %d]++;" % f.number]
    for i, t in enumerate(f.fixed):
        if t.family == "INTEGER" and t.combine:
            lines.append("a%d ^= 1;" % i)
            break
    lines.append(("return %s;" if f.ret else "%s;") % f.call(f.other.name))
    return lines


def again_body(f):
    """A call back into the library through its own PLT, once (nest) or a few times (recursive)."""
    call = f.call(f.other.name if f.kind == "nest" else "again_" + f.name)
    if f.kind == "recursive":
        call = call.replace("(a0", "(a0 - 1", 1)
    guard = "if (a0) " if f.kind == "recursive" else ""
    if not f.ret:
        return [guard + call + ";"]
    return [guard + "{ %s again = %s; h = tt_hash_value(h, %d, &again); }"
            % (f.ret.name, call, f.ret.index)]


def variadic_head(f):
    ap = "ap"
    lines = ["va_list ap, aq;", "va_start(ap, a%d);" % (len(f.fixed) - 1)]
    for i, t in enumerate(f.trailing):
        if f.copy_at == i:
            lines.append("va_copy(aq, ap);")
            ap = "aq"
        lines.append("%s a%d = va_arg(%s, %s);" % (t.name, len(f.fixed) + i, ap, t.name))
    if ap == "aq":
        lines.append("va_end(aq);")
    return lines + ["va_end(ap);"]


def function_body(f):
    if f.kind == "tail":
        return forward_body(f)
    lines = variadic_head(f) if f.kind == "variadic" else []
    lines += [f.pointers(), "uint64_t h = tt_enter(%d, p);" % f.number]
    if f.kind in ("nest", "recursive"):
        lines += again_body(f)
    if f.ret:
        lines += ["%s r;" % f.ret.name, "tt_result(%d, h, &r);" % f.number]
        same = [i for i, t in enumerate(f.args) if t is f.ret and t.combine]
        if same:
            lines.append("r %s a%d;" % (f.ret.combine, same[f.number % len(same)]))
        lines.append("return r;")
    return lines


def caller_body(f):
    address = {"plt": "TT_PLT(%s)", "got": "(void *)%s", "data": "data_%s",
               "dlsym": 'tt_dlsym("%s")'}[f.address] % f.name
    lines = ["%s a%d;" % (t.name, i) for i, t in enumerate(f.args)]
    if f.ret:
        lines.append("%s r;" % f.ret.name)
    lines += [f.pointers(), "void *address = %s;" % address,
              "for (unsigned k = 0; k < TT_CALLS; k++) {",
              "%s = (void *)tt_begin(%d, k, p, address);" % (f.prototype("(*f)"), f.number)]
    assign = "r = " if f.ret else ""
    if f.direct:
        lines.append("if (k + 1 == TT_CALLS) %s%s; else" % (assign, f.call(f.name)))
    lines += [assign + f.call("f") + ";",
              "tt_end(%d, k, %s);" % (f.number, "&r" if f.ret else "0"), "}"]
    if f.address != "plt":
        lines.append("tt_same_address(%d, address);" % f.number)
    return lines


def write(path, lines):
    with open(path, "w") as out:
        out.write("\n".join(lines) + "\n")


def write_types(maker, out):
    lines = ["#ifndef TYPES_H", "#define TYPES_H", '#include "torture.h"']
    lines += [t.definition for t in maker.types]
    write(os.path.join(out, "types.h"), lines + ["#endif"])


def write_tables(maker, out):
    lines = ['#include "types.h"']
    for t in maker.types:
        atoms = ", ".join("{%s, %s, %d}" % a for a in t.atoms)
        lines.append("static const struct tt_atom atoms_%d[] = {%s};" % (t.index, atoms))
    lines += ["const struct tt_type tt_types[] = {", "{0, 0, 0},"]
    lines += ["{atoms_%d, %d, %d}," % (t.index, len(t.atoms), t.in_memory) for t in maker.types]
    lines.append("};")
    for f in maker.functions:
        lines.append("static const uint16_t args_%d[] = {%s};"
                     % (f.number, ", ".join(str(t.index) for t in f.args)))
    lines.append("const struct tt_function tt_functions[] = {")
    for f in maker.functions:
        lines.append("{args_%d, %d, %d, %d, %d}," % (f.number, len(f.args),
                                                    f.ret.index if f.ret else 0, f.level,
                                                    f.kind in ("tail", "recursive")))
    lines += ["};", "const unsigned tt_function_count = %d;" % len(maker.functions)]
    write(os.path.join(out, "types.c"), lines)


def write_library(maker, out):
    functions = maker.functions
    for start in range(0, len(functions), FUNCTIONS_PER_FILE):
        part = functions[start:start + FUNCTIONS_PER_FILE]
        lines = ['#include "types.h"']
        for f in part:
            if f.other:
                lines.append(f.other.target() + f.other.prototype(f.other.name) + ";")
            if f.kind == "recursive":  # under its own name gcc calls itself without the PLT
                lines.append('%s%s __asm__("%s");' % (f.target(), f.prototype("again_" + f.name),
                                                     f.name))
            lines.append("%s%s\n{\n%s\n}" % (f.target(), f.prototype(f.name, True),
                                            "\n".join(function_body(f))))
        write(os.path.join(out, "lib_%03d.c" % (start // FUNCTIONS_PER_FILE)), lines)
    lines = ['#include "torture.h"', "uint64_t tt_count[TT_FIRST + %d];" % len(functions),
             "uint64_t tt_args_seen[%d];" % len(functions)]
    lines += ["void %s(void);" % f.name for f in functions]  # only the addresses matter
    lines += ["void *const tt_table[] = {"] + ["(void *)%s," % f.name for f in functions] + ["};"]
    write(os.path.join(out, "lib_table.c"), lines)


def write_callers(maker, out):
    functions = maker.functions
    for start in range(0, len(functions), FUNCTIONS_PER_FILE):
        part = functions[start:start + FUNCTIONS_PER_FILE]
        lines = ['#include "types.h"']
        for f in part:
            lines.append(f.target() + f.prototype(f.name) + ";")
            if f.address == "data":  # volatile: the compiler must load it
                lines.append("static void *volatile data_%s = (void *)%s;" % (f.name, f.name))
            lines.append("void c_%06d(void);" % f.number)
            lines.append("%svoid c_%06d(void)\n{\n%s\n}" % (f.target(), f.number,
                                                           "\n".join(caller_body(f))))
        write(os.path.join(out, "call_%03d.c" % (start // FUNCTIONS_PER_FILE)), lines)
    lines = ['#include "torture.h"'] + ["void c_%06d(void);" % f.number for f in functions]
    lines += ["void (*const tt_callers[])(void) = {"]
    lines += ["c_%06d," % f.number for f in functions] + ["};"]
    write(os.path.join(out, "call_table.c"), lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    maker = Maker(options.seed)
    for number in range(options.count):
        maker.random_function(number)
    write_types(maker, options.out)
    write_tables(maker, options.out)
    write_library(maker, options.out)
    write_callers(maker, options.out)


if __name__ == "__main__":
    main()
