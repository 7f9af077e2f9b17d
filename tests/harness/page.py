# SPDX-License-Identifier: MIT
"""A page of `report --html`, as a program without scripts sees it: its tables, its text, its data."""
import base64
import html.parser
import json
import os
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
import make_bp  # pylint: disable=wrong-import-position

GOLDEN = os.path.dirname(os.path.abspath(make_bp.__file__))
VOID = {"meta", "br", "link", "input", "img", "hr"}
OPTIONAL_END = {"td", "tr", "li", "th"}


class Page(html.parser.HTMLParser):
    """`tables` {path of the list: {"keys": […], "rows": [[text, …], …]}}, `data` {id: JSON}, `text`
    all that is shown, `elements` [(tag, attributes)]."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.tables, self.data, self.elements, self.text = {}, {}, [], ""
        self.list, self.cell, self.hidden, self.blob, self.stack = None, None, False, None, []
        self.feed(self.bytes.decode("utf-8"))
        self.close()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if tag not in VOID and tag not in OPTIONAL_END:
            self.stack.append(tag)
        self.blob = attributes.get("id") if tag == "script" else None
        self.hidden = tag in ("script", "style")
        if "data-list" in attributes:
            self.list = self.tables[attributes["data-list"]] = {"keys": [], "rows": []}
        elif tag == "th":
            self.list["keys"].append(attributes["data-key"])
        elif tag == "tr" and self.list["keys"]:
            self.list["rows"].append([])
        elif tag == "td":
            self.list["rows"][-1].append("")
        self.cell = tag == "td" or (self.cell and tag not in ("tr", "table", "div"))

    def handle_endtag(self, tag):
        if tag in OPTIONAL_END:
            return
        assert self.stack and self.stack[-1] == tag, (tag, self.stack, self.getpos())
        self.stack.pop()
        self.cell = self.hidden = False

    def handle_data(self, data):
        if self.hidden:
            if self.blob:
                text = zlib.decompress(base64.b64decode(data)).decode("utf-8")
                self.data[self.blob] = text if self.blob == "battprof-script" else json.loads(text)
            return
        self.text += data
        if self.cell:
            self.list["rows"][-1][-1] += data.rstrip("\n")

    def column(self, table, key):
        place = self.tables[table]["keys"].index(key)
        return [row[place] for row in self.tables[table]["rows"]]

    def sum(self, measure):
        """What the graph shows of a measure: seconds of times."""
        data = self.data["battprof-data"]
        total = sum(value for value in data["nodes"][measure])
        if measure == "wall":
            total += sum(data["rest"][key] for key in ("idle", "start", "unsplit", "profiler"))
        if measure == "thread":
            total += data["rest"]["thread_profiler"]
        return total / 1e9 if measure in ("wall", "thread") else total


def golden_cases():
    """Names of the golden cases that are one run."""
    for name in sorted(os.listdir(GOLDEN)):
        path = os.path.join(GOLDEN, name, "input.json")
        if os.path.exists(path) and not name.startswith("diff"):
            with open(path, encoding="utf-8") as file:
                yield name, json.load(file)


def write_case(case, directory):
    make_bp.write_all(case, directory)


def tree_case(contexts, name=lambda i: "function_%d" % i, functions=400, fan=8):
    """A run of one thread with so many calling contexts: node i is called from node (i - 1) / fan."""
    funcs = [[name(i), "libdsl.so", "call"] for i in range(functions)]
    nodes = [{"self": 1, "children": []}]
    paths = [()]
    place = 0
    for i in range(contexts):
        while len(nodes[place]["children"]) >= fan:
            place += 1
        free = (f for f in range(i, i + functions)
                if funcs[f % functions][0] not in paths[place] and
                all(child["func"] != funcs[f % functions][0] for child in nodes[place]["children"]))
        func = funcs[next(free) % functions][0]
        node = {"func": func, "self": 0.01 + (i * 7919 % 1009) / 1000, "calls": [[1 + i % 5, 0.01]],
                "children": []}
        nodes[place]["children"].append(node)
        nodes.append(node)
        paths.append(paths[place] + (func,))
    end = sum(node["self"] for node in nodes)
    return one_run(funcs, nodes[0], end)


def one_run(funcs, root, end, command="./tree"):
    """A description of a run of one thread."""
    return {"path": "run.bp", "files": {"run.bp": {
        "pid": 100, "command": command, "end": end, "last": end, "end_v": end,
        "objects": [{"path": "/usr/bin/tree", "main": True},
                    {"path": "/usr/lib/libdsl.so", "hooked": True, "exports": len(funcs)}],
        "funcs": funcs,
        "threads": [{"tid": 100, "name": "main", "end": end, "v": end, "root": root}],
        "wall_page": {"time": end, "v": end}}}}
