# SPDX-License-Identifier: MIT
"""What battprof export writes, read by a few lines of our own: self and total by name."""
import collections
import gzip
import json
import re

RESTS = ("[idle]", "[start]", "[overhead]", "[unsplit]")
FORMATS = ("pprof", "speedscope", "perfetto", "callgrind", "firefox", "folded", "openmetrics")


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """(number, value) of a message: a number, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = data[at:at + 8], at + 8
        else:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        yield key >> 3, value


def packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


class Stacks:
    """Self and total by name, of stacks from the innermost frame."""

    def __init__(self):
        self.own, self.total = collections.Counter(), collections.Counter()

    def add(self, stack, weight):
        self.own[stack[0]] += weight
        for name in set(stack):
            self.total[name] += weight


def read_pprof(path, value):
    """{value type: Stacks}, and all labels that were seen."""
    top = collections.defaultdict(list)
    with gzip.open(path) as file:
        for number, content in fields(file.read()):
            top[number].append(content)
    text = [content.decode("utf-8") for content in top[6]]
    types = [text[dict(fields(content))[1]] for content in top[1]]
    names = {row[1]: text[row[2]] for row in map(dict, map(fields, top[5]))}
    places = {row[1]: names[dict(fields(row[4]))[1]] for row in map(dict, map(fields, top[4]))}
    stacks, labels = Stacks(), collections.defaultdict(collections.Counter)
    for content in top[2]:
        row = collections.defaultdict(list)
        for number, data in fields(content):
            row[number].append(data)
        values = packed(row[2][0])
        assert len(values) == len(types)
        stacks.add([places[place] for place in packed(row[1][0])], values[types.index(value)])
        for label in row[3]:
            label = dict(fields(label))
            labels[text[label[1]]][text[label[2]]] += values[types.index(value)]
    return stacks, labels


def read_folded(path):
    stacks = Stacks()
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, weight = line.rsplit(" ", 1)
            stacks.add(stack.split(";")[::-1], int(weight))
    return stacks


def read_speedscope(path, name):
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    frames = [frame["name"] for frame in data["shared"]["frames"]]
    stacks = Stacks()
    for profile in data["profiles"]:
        if profile["name"] == name:
            for sample, weight in zip(profile["samples"], profile["weights"], strict=True):
                stacks.add([frames[i] for i in sample[::-1]], weight)
            assert sum(profile["weights"]) == profile["endValue"]
    return stacks


def read_firefox(path):
    with gzip.open(path) as file:
        data = json.load(file)
    stacks = Stacks()
    for thread in data["threads"]:
        table, samples = thread["stackTable"], thread["samples"]
        for name, columns in thread.items():
            if isinstance(columns, dict):
                for column in columns.values():
                    assert not isinstance(column, list) or len(column) == columns["length"], name
        for at, weight in zip(samples["stack"], samples["weight"], strict=True):
            stack = []
            while at is not None:
                func = thread["frameTable"]["func"][table["frame"][at]]
                stack.append(thread["stringArray"][thread["funcTable"]["name"][func]])
                at = table["prefix"][at]
            stacks.add(stack, weight * 1e6)
    return stacks


def read_callgrind(path, event):
    """Self and inclusive; a function within itself is one function again."""
    stacks, names, current, calls = Stacks(), {}, None, False
    with open(path, encoding="utf-8") as file:
        for line in file:
            found = re.match(r"(c?fn)=\((\d+)\)(?: (.*))?$", line)
            if found:
                names.setdefault(found[2], found[3])
                if found[1] == "fn":
                    current = names[found[2]]
            elif line.startswith("events:"):
                column = line.split().index(event)
            elif line.startswith("calls="):
                calls = True
            elif line[0].isdigit():
                cost = int(line.split()[column])
                stacks.own[re.sub(r"'\d+$", "", current)] += 0 if calls else cost
                if not re.search(r"'\d+$", current):
                    stacks.total[current] += cost
                calls = False
    return stacks


def expected(report):
    """Nanoseconds by name, as the report has them: self, wall and total."""
    own, wall, total = (collections.Counter() for _ in range(3))
    for row in report["functions"]:
        name = row["library"] if row["kind"] == "root" else row["name"]
        name = name if "<" not in name else None  # labels of these have their line
        own[name] += row["self_s"] * 1e9
        wall[name] += (row["wall_s"] + row["idle_s"]) * 1e9
        total[name] += row["total_s"] * 1e9
    return own, wall, total
