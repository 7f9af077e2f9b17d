// SPDX-License-Identifier: MIT
// The run as a tree of calling contexts, and the trees that are drawn of it: as it is, from the
// innermost function outwards (inverted), or around one function (sandwich). A drawn tree has its
// nodes by level, children of a node side by side and the largest first: drawing may stop at the
// first that is too small to see.

const MEASURES = {wall: 'wall', thread: 'thread time', calls: 'calls', bytes: 'bytes copied'};
const CATEGORIES = ['dsl', 'framework', 'transfer'];
// By whose code it was, in the order of tools/model/owner/split.def: where no DSL was named.
const OWNERS = ['dsl', 'framework', 'other', 'import', 'waiting', 'io', 'transfer', 'cuda', 'kernels', 'start',
  'profiler', 'noise', 'noise'];
// What importing runs is a part of it.
const CODE = ['dsl', 'framework', 'other', 'io'];
const REST = [['idle', 'waiting'], ['start', 'framework'], ['profiler', 'profiler'], ['unsplit', 'framework'],
  ['paused', 'noise']];
const REST_NAMES = {
  idle: '(all threads waited)', start: '(no thread yet, or no more)', profiler: '(overhead)', unsplit: '(not split)',
  paused: '(paused)',
};
const SPLIT_NAMES = {'-1': '(waiting for kernels of the DSL)', '-2': '(waiting for kernels)', '-3': '(transfer)',
  '-4': '(callers unknown)', '-5': '(blocked, in no call that was seen)'};

// Functions of the data, then names that are no functions: each has a number.
class Run {
  constructor(report, data) {
    this.report = report;
    this.data = data;
    this.names = data.functions.name.slice();
    this.libraries = data.functions.library;
    this.functions = this.names.length;
    this.pseudo = new Map();
    this.owner = data.functions.owner;
    this.classes = Array.from(data.functions.category, (c, i) => this.classOf(i, +c, +data.functions.kind[i]));
    this.readNodes(data.nodes);
    this.addRest(data.rest);
  }

  classOf(i, category, kind) {
    if (kind === 2) return 'waiting';
    return this.owner ? OWNERS[this.owner.charCodeAt(i) - 97] : CATEGORIES[category] || 'other';
  }

  // A number for a name that is no function.
  put(name, kind) {
    if (!this.pseudo.has(name)) {
      this.pseudo.set(name, this.names.length);
      this.names.push(name);
      this.classes.push(kind);
    }
    return this.pseudo.get(name);
  }

  readNodes(nodes) {
    const n = nodes.kind.length + 1 + REST.length;
    this.size = nodes.kind.length + 1;
    this.parent = new Int32Array(n);
    this.fn = new Int32Array(n).fill(-1);
    this.kind = new Uint8Array(n);
    this.cls = new Array(n).fill('other');
    this.own = {};
    for (const measure of Object.keys(MEASURES)) {
      this.own[measure] = new Float64Array(n);
      this.own[measure].set(nodes[measure], 1);
    }
    for (let i = 1; i < this.size; i++) this.readNode(nodes, i);
  }

  // A sampled frame is of the category of the time that it divides: its context's. It may be somebody else's code.
  readNode(nodes, i) {
    const from = nodes.function[i - 1];
    this.parent[i] = i - nodes.parent[i - 1];
    this.kind[i] = +nodes.kind[i - 1];
    if (this.kind[i] === 3) this.fn[i] = this.put('(' + count(from) + ' small contexts)', 'other');
    else if (from >= 0) this.fn[i] = from;
    else this.fn[i] = this.put(SPLIT_NAMES[from], from === -5 ? 'waiting' : CATEGORIES[-1 - from] || 'other');
    const own = this.kind[i] === 0 || this.kind[i] === 2 || (this.owner && this.kind[i] === 1 && this.classes[this.fn[i]] !== 'noise');
    this.cls[i] = own ? this.classes[this.fn[i]] : this.cls[this.parent[i]];
    if (this.cls[this.parent[i]] === 'import' && CODE.includes(this.cls[i])) this.cls[i] = 'import';
  }

  addRest(rest) {
    REST.forEach(([key, kind], i) => {
      const node = this.size + i, cls = this.owner && kind === 'framework' ? 'start' : kind;
      this.fn[node] = this.put(REST_NAMES[key], cls);
      this.cls[node] = cls;
      this.own.wall[node] = rest[key];
    });
    this.own.thread[this.size + 2] = rest.thread_profiler;
    this.size += REST.length;
  }

  isWaiting(node) {
    return this.cls[node] === 'waiting';
  }

  // Own values of a measure in a scope: everything, some threads, or one task.
  values(measure, scope, hide) {
    let own = this.own[measure];
    if (scope.threads) own = this.sumThreads(measure, scope.threads);
    else own = own.slice();
    for (let i = 0; i < this.size; i++)
      if (own[i] < 0 || (hide && this.isWaiting(i))) own[i] = 0;
    return own;
  }

  // Threads are in microseconds; what they have of the wall follows from how much others were busy.
  sumThreads(measure, threads) {
    const own = new Float64Array(this.size);
    for (const t of threads) {
      const from = this.data.threads[t], row = this.report.thread_list[t];
      const rate = row && row.busy_s > 0 ? row.wall_s / row.busy_s : 0;
      const values = measure === 'wall' ? from.thread : from[measure];
      let node = 0;
      for (let i = 0; from.node && i < from.node.length; i++) {
        node += from.node[i];
        if (measure === 'wall') own[node] += this.isWaiting(node) && this.kind[node] !== 2 ? 0 : 1000 * values[i] * rate;
        else own[node] += measure === 'thread' ? 1000 * values[i] : values[i];
      }
      if (measure === 'thread') own[this.size - 2] += from.profiler;
      if (measure === 'wall') own[this.size - 2] += from.profiler * rate;
    }
    return own;
  }

  // [function, self in ns] of each task, by task.
  get tasks() {
    if (this.taskParts) return this.taskParts;
    const {function: fns, task: gaps, self} = this.data.tasks, parts = [];
    for (let f = 0, at = 0; f < fns.length; f += 2)
      for (let end = at + fns[f + 1], task = 0; at < end; at++) {
        task += gaps[at];
        (parts[task] = parts[task] || []).push([fns[f], 1000 * self[at]]);
      }
    return this.taskParts = parts;
  }

  // Functions of a task, side by side: their call paths are not recorded task by task.
  taskTree(task) {
    return this.tasks[task].map(([fn, total]) => ({fn, cls: this.classes[fn], total}));
  }
}

// A tree to draw. add() is called for parents before children; finish() orders it.
class Tree {
  constructor(run) {
    this.run = run;
    this.raw = [{parent: -1, fn: -1, cls: 'other', kind: 0, own: 0, total: 0, from: 0}];
  }

  add(parent, fn, cls, kind, own, from) {
    this.raw.push({parent, fn, cls, kind, own, total: own, from});
    return this.raw.length - 1;
  }

  finish() {
    const raw = this.raw;
    for (let i = raw.length - 1; i > 0; i--) raw[raw[i].parent].total += raw[i].total;
    const children = new Map();
    for (let i = 1; i < raw.length; i++) {
      if (!(raw[i].total > 0)) continue;
      const list = children.get(raw[i].parent);
      if (list) list.push(i);
      else children.set(raw[i].parent, [i]);
    }
    const order = [0], n = raw.length;
    this.parent = new Int32Array(n);
    this.first = new Int32Array(n);
    this.last = new Int32Array(n);
    this.depth = new Int32Array(n);
    this.x = new Float64Array(n);
    for (let at = 0; at < order.length; at++) {
      const list = children.get(order[at]) || [];
      list.sort((a, b) => raw[b].total - raw[a].total || a - b);
      this.first[at] = order.length;
      let x = this.x[at];
      for (const child of list) {
        const number = order.length;
        this.parent[number] = at;
        this.depth[number] = this.depth[at] + 1;
        this.x[number] = x;
        x += raw[child].total;
        order.push(child);
      }
      this.last[at] = order.length;
    }
    this.size = order.length;
    this.nodes = order.map(i => raw[i]);
    this.deepest = this.depth[this.size - 1];
    this.raw = null;
    return this;
  }

  get whole() {
    return this.nodes[0].total;
  }

  name(i) {
    return i === 0 ? 'all' : this.run.names[this.nodes[i].fn];
  }

  path(i) {
    const path = [];
    for (; i > 0; i = this.parent[i]) path.unshift(i);
    return path;
  }
}

function plainTree(run, own) {
  const tree = new Tree(run);
  tree.raw.length = 0;
  for (let i = 0; i < run.size; i++)
    tree.raw.push({parent: i ? run.parent[i] : -1, fn: run.fn[i], cls: run.cls[i], kind: run.kind[i], own: own[i],
      total: own[i], from: i});
  return tree.finish();
}

// Paths from a node outwards, joined where they begin alike.
function addCallers(run, tree, seen, top, node, value) {
  let at = top;
  for (let up = run.parent[node]; up > 0; up = run.parent[up]) {
    const key = at * run.names.length + run.fn[up];
    let next = seen.get(key);
    if (next === undefined) seen.set(key, next = tree.add(at, run.fn[up], run.cls[up], run.kind[up], 0, up));
    at = next;
  }
  tree.raw[at].own += value;
  tree.raw[at].total += value;
}

function invertedTree(run, own) {
  const tree = new Tree(run), seen = new Map();
  for (let i = 1; i < run.size; i++) {
    if (!(own[i] > 0)) continue;
    const key = -1 - run.fn[i];
    let top = seen.get(key);
    if (top === undefined) seen.set(key, top = tree.add(0, run.fn[i], run.cls[i], run.kind[i], 0, i));
    addCallers(run, tree, seen, top, i, own[i]);
  }
  return tree.finish();
}

function totals(run, own) {
  const all = Float64Array.from(own);
  for (let i = run.size - 1; i > 0; i--) all[run.parent[i]] += all[i];
  return all;
}

// Contexts of a function that are in no other context of it.
function outermost(run, fn) {
  const inside = new Uint8Array(run.size), found = [];
  for (let i = 1; i < run.size; i++) {
    const up = run.parent[i];
    inside[i] = inside[up] || (up > 0 && run.fn[up] === fn) ? 1 : 0;
    if (run.fn[i] === fn && !inside[i]) found.push(i);
  }
  return found;
}

function callersTree(run, own, fn) {
  const tree = new Tree(run), seen = new Map(), all = totals(run, own);
  const top = tree.add(0, fn, run.classes[fn], 0, 0, 0);
  for (const i of outermost(run, fn)) if (all[i] > 0) addCallers(run, tree, seen, top, i, all[i]);
  return tree.finish();
}

function calleesTree(run, own, fn) {
  const tree = new Tree(run), seen = new Map(), to = new Int32Array(run.size).fill(-1);
  const top = tree.add(0, fn, run.classes[fn], 0, 0, 0);
  for (const i of outermost(run, fn)) to[i] = top;
  for (let i = 1; i < run.size; i++) {
    const up = run.parent[i];
    if (to[i] < 0 && up > 0 && to[up] >= 0) {
      const key = to[up] * run.names.length + run.fn[i];
      let next = seen.get(key);
      if (next === undefined) seen.set(key, next = tree.add(to[up], run.fn[i], run.cls[i], run.kind[i], 0, i));
      to[i] = next;
    }
    if (to[i] >= 0) {
      tree.raw[to[i]].own += own[i];
      tree.raw[to[i]].total += own[i];
    }
  }
  return tree.finish();
}

function flatTree(run, list) {
  const tree = new Tree(run);
  for (const node of list) tree.add(0, node.fn, node.cls, 0, node.total, 0);
  return tree.finish();
}
