// SPDX-License-Identifier: MIT
// The view with the graph: what is drawn, what is searched for, where the keyboard is.

// What a change is without its colour.
const SIGNS = {slower: '+ ', faster: '− ', added: '* '};
const CHANGES = {slower: '+ slower', faster: '− faster', added: '* new', noise: 'within chance, or not compared'};
const NAMES = {dsl: 'DSL', framework: 'framework', transfer: 'transfer', waiting: 'waiting', profiler: 'overhead', other: 'small'};
const OWNER_NAMES = {dsl: 'your code', framework: 'libraries', other: 'standard library, interpreter', import: 'import', io: 'file I/O',
  transfer: 'transfer', cuda: 'CUDA calls', kernels: 'waiting for kernels', waiting: 'waiting', start: 'starting and ending',
  profiler: 'overhead', noise: 'unknown'};

class Graph {
  constructor(page) {
    this.page = page;
    this.run = page.run;
    this.state = {measure: this.run.report.wall_s > 0 ? 'wall' : 'thread', scope: {}, hide: false, invert: false,
      sandwich: -1, table: false, change: !!page.diff};
    this.build();
    this.refresh();
  }

  build() {
    this.canvas = el('canvas', {tabindex: 0, role: 'application', 'aria-roledescription': 'flame graph',
      'aria-label': 'Graph of calls. Arrow keys walk, Enter zooms in, Escape out, Space shows the function.',
      onkeydown: event => this.key(event), onfocus: () => this.setFocused(true), onblur: () => this.setFocused(false)});
    this.callers = el('canvas', {'aria-hidden': 'true'});
    this.tip = el('div', {class: 'tip', 'aria-hidden': 'true'});
    this.crumbs = el('nav', {class: 'crumbs', 'aria-label': 'Where the graph is zoomed to'});
    this.found = el('span', {class: 'said'});
    this.folded = el('p', {class: 'said'});
    this.legend = el('div', {class: 'legend', 'aria-label': 'Colours'});
    this.table = el('div', {class: 'tree', hidden: true});
    this.panel = el('aside', {class: 'panel', hidden: true, 'aria-label': 'Function'});
    const options = {kind: node => this.kindOf(node), sign: node => SIGNS[this.kindOf(node)] || '', unit: value => this.unit(value), dims: node => this.dims(node), marks: node => this.isFound(node) || node.fn === this.state.sandwich};
    this.main = new Drawing(this.canvas, options);
    this.above = new Drawing(this.callers, {...options, height: 210});
    this.flame = el('div', {class: 'flame'}, this.callers, this.canvas, this.tip);
    this.split = el('div', {class: 'split'},
      el('div', {}, this.tools(), this.crumbs, this.flame, this.table, this.legend, this.folded), this.panel);
    for (const drawing of [this.main, this.above]) this.listen(drawing);
  }

  tools() {
    const press = (key, text, title) => {
      const button = el('button', {type: 'button', 'aria-pressed': 'false', title, onclick: () => {
        this.state[key] = !this.state[key];
        button.setAttribute('aria-pressed', String(this.state[key]));
        this.refresh();
      }}, text);
      return button;
    };
    const measures = Object.keys(MEASURES).filter(key => this.run.own[key].some(value => value > 0));
    this.measureButtons = measures.map(key => el('button', {type: 'button', onclick: () => {
      this.state.measure = key;
      this.refresh();
    }, 'data-measure': key}, MEASURES[key]));
    this.search = el('input', {type: 'search', placeholder: 'search: regular expression', size: 24,
      'aria-label': 'Search functions by a regular expression', oninput: () => this.find(), onkeydown: event => {
        if (event.key === 'Enter') this.next(event.shiftKey ? -1 : 1);
      }});
    this.scopes = this.makeScopes();
    this.turns = [press('invert', 'invert', 'innermost functions on top'), press('hide', 'hide waiting', 'leave waits out')];
    return el('div', {class: 'tools'}, el('span', {class: 'seg', role: 'group', 'aria-label': 'Width of a frame'},
      this.measureButtons), this.scopes, this.search, this.found, this.turns, this.page.diff && this.changeButton(),
      press('table', 'as a table', 'the same as a tree table'), el('button', {type: 'button', onclick: () => this.reset()}, 'reset'));
  }

  changeButton() {
    const button = el('button', {type: 'button', 'aria-pressed': 'true', onclick: () => {
      this.state.change = !this.state.change;
      button.setAttribute('aria-pressed', String(this.state.change));
      this.refresh();
    }}, 'colour by change');
    return button;
  }

  // All, each process, each thread, each task: as far as the data has them singly.
  makeScopes() {
    const report = this.run.report, data = this.run.data;
    this.scopeList = [{}];
    this.scopeOf = new Map();
    const select = el('select', {'aria-label': 'Of which threads or task', onchange: () => {
      this.state.scope = this.scopeList[+select.value];
      this.refresh();
    }}, el('option', {value: 0}, 'all threads'));
    const group = (label, items) => items.length && select.append(el('optgroup', {label}, items.map(([text, scope, key]) => {
      this.scopeOf.set(key, this.scopeList.push(scope) - 1);
      return el('option', {value: this.scopeList.length - 1}, text);
    })));
    const single = report.thread_list.map((row, i) => [row, i]).filter(([, i]) => data.threads[i] && data.threads[i].node);
    const pids = [...new Set(single.map(([row]) => row.process))];
    if (pids.length > 1)
      group('process', pids.map(pid => ['process ' + pid, {threads: single.filter(([row]) => row.process === pid).map(([, i]) => i)},
        SCOPES.process_list[1]({process: pid})]));
    group('thread', single.map(([row, i]) => ['thread ' + row.tid + ' ' + row.name, {threads: [i]}, SCOPES.thread_list[1](row)]));
    group('task', report.tasks.list.slice(0, 500).map((task, i) => ['task ' + (task.id || task.name), {task: i}, SCOPES['tasks.list'][1](task)])
      .filter(([, scope]) => this.run.tasks[scope.task]));
    select.hidden = this.scopeList.length < 2;
    return select;
  }

  // What a row of a table is about: a task, a thread, a process.
  showScope(number) {
    this.reset();
    this.scopes.value = number;
    this.state.scope = this.scopeList[number];
    this.refresh();
    say('graph of ' + this.scopes.selectedOptions[0].textContent);
  }

  // A sampled frame divides the time of a function above it, and what was found of that one holds for it.
  kindOf(node) {
    if (!this.state.change || !this.page.diff) return node.cls;
    let {fn} = node;
    if (node.kind === 1) {
      let from = node.from;
      while (this.run.kind[from] === 1) from = this.run.parent[from];
      fn = this.run.fn[from];
    }
    return this.page.verdict(fn);
  }

  isFound(node) {
    return this.matches && this.matches.has(node.fn);
  }

  dims(node) {
    return this.matches && this.matches.size > 0 && !this.matches.has(node.fn);
  }

  unit(value) {
    const {measure, scope} = this.state;
    return measure === 'calls' && scope.task === undefined ? count(value) + (value === 1 ? ' call' : ' calls')
      : measure === 'bytes' && scope.task === undefined ? bytes(value) : time(value * 1e-9);
  }

  makeTree() {
    const {measure, scope, hide, invert, sandwich} = this.state;
    if (scope.task !== undefined) return flatTree(this.run, this.run.taskTree(scope.task));
    this.own = this.run.values(measure, scope, hide);
    if (sandwich >= 0) return calleesTree(this.run, this.own, sandwich);
    return invert ? invertedTree(this.run, this.own) : plainTree(this.run, this.own);
  }

  refresh() {
    const begun = performance.now(), {state} = this;
    const zoomed = this.plain ? this.tree.nodes[this.main.zoom].from : 0;
    this.tree = this.makeTree();
    this.plain = !state.invert && state.sandwich < 0 && state.scope.task === undefined;
    const sandwich = state.sandwich >= 0 && state.scope.task === undefined;
    this.main.setTree(this.tree, false, sandwich ? 1 : 0);
    if (this.plain && zoomed) this.keepZoom(zoomed);
    this.callers.hidden = !sandwich || state.table;
    if (sandwich) this.above.setTree(callersTree(this.run, this.own, state.sandwich), true, 2);
    const task = state.scope.task !== undefined;
    for (const button of this.measureButtons)
      button.setAttribute('aria-pressed', String(button.dataset.measure === (task ? 'thread' : state.measure)));
    for (const button of [...this.measureButtons, ...this.turns]) button.disabled = task;
    this.canvas.hidden = state.table;
    this.table.hidden = !state.table;
    this.flame.hidden = state.table;
    if (state.table) this.showTable();
    this.find(true);
    this.showLegend();
    this.sayFolded();
    this.draw();
    this.split.dataset.took = (performance.now() - begun).toFixed(2);
    this.split.dataset.sum = this.tree.whole;
  }

  // Another measure or thread shows the same context, if it has any of it.
  keepZoom(context) {
    const i = this.tree.nodes.findIndex(node => node.from === context);
    if (i > 0) this.main.zoom = this.main.focus = i;
  }

  draw() {
    if (this.canvas.isConnected && !this.canvas.hidden) {
      this.main.draw();
      if (!this.callers.hidden) this.above.draw();
    }
    this.showCrumbs();
  }

  restyle() {
    this.main.paint.refresh();
    this.above.paint.refresh();
    this.draw();
  }

  reset() {
    Object.assign(this.state, {sandwich: -1, invert: false, hide: false, scope: {}});
    this.plain = false;
    this.scopes.value = 0;
    this.search.value = '';
    for (const button of this.split.querySelectorAll('.tools [aria-pressed]'))
      if (!button.dataset.measure && /invert|hide/.test(button.textContent)) button.setAttribute('aria-pressed', 'false');
    this.refresh();
  }

  showCrumbs() {
    const path = this.tree.path(this.main.zoom), {sandwich} = this.state;
    const parts = [el('button', {type: 'button', class: 'link', onclick: () => this.zoomTo(0)}, 'all')];
    if (sandwich >= 0) parts.unshift(el('span', {}, 'around ' + this.run.names[sandwich] + ' '),
      el('button', {type: 'button', onclick: () => this.reset()}, 'back to the whole graph'));
    for (const i of path)
      parts.push(el('span', {'aria-hidden': 'true'}, '›'), el('button', {type: 'button', class: 'link',
        'aria-current': i === this.main.zoom ? 'true' : null, onclick: () => this.zoomTo(i)}, this.tree.name(i)));
    this.crumbs.replaceChildren(...parts);
  }

  showLegend() {
    const kinds = this.state.change && this.page.diff ? CHANGES : this.run.owner ? OWNER_NAMES : NAMES;
    const used = new Set();
    let sampled = false;
    for (const {nodes} of this.callers.hidden ? [this.tree] : [this.tree, this.above.tree])
      for (const node of nodes.slice(1)) {
        used.add(this.kindOf(node));
        sampled = sampled || node.kind === 1;
      }
    this.legend.replaceChildren(...Object.entries(kinds).filter(([kind]) => used.has(kind)).map(([kind, text]) =>
      el('span', {class: 'chip'}, el('i', {class: 'c-' + kind}), text)),
      ...(sampled ? [el('span', {class: 'chip'}, 'paler: from samples, an estimate')] : []));
  }

  sayFolded() {
    const {data} = this.run, {scope} = this.state;
    const parts = [];
    if (data.folded) parts.push(count(data.folded) + ' of ' + count(data.contexts) + ' contexts are too small to be listed one by one; their sums are here.');
    if (scope.task !== undefined) parts.push('Functions of a task stand side by side: their call paths are not recorded task by task.');
    if (this.state.measure === 'wall' && this.tree.whole === 0) parts.push('Nothing of the wall is here.');
    this.folded.textContent = parts.join(' ');
  }

  describe(tree, i) {
    const node = tree.nodes[i], whole = this.tree.whole;
    let text = tree.name(i) + ': ' + this.unit(node.total) + ', ' + percent(node.total, whole);
    if (node.own < node.total && node.own > 0) text += ', itself ' + this.unit(node.own);
    return text + (node.kind === 1 ? ', from samples' : '') + (node.fn >= 0 && this.state.change ? this.page.changeOf(node.fn) : '');
  }

  listen(drawing) {
    const {canvas} = drawing;
    canvas.addEventListener('mousemove', event => this.hover(drawing, event));
    canvas.addEventListener('mouseleave', () => { this.tip.style.display = 'none'; });
    canvas.addEventListener('click', event => {
      const i = drawing.at(event.offsetX, event.offsetY);
      if (i < 0) return;
      this.tip.style.display = 'none';
      drawing.focus = i;
      drawing.zoom = i === drawing.zoom ? drawing.tree.parent[i] : i;
      drawing.draw();
      this.showCrumbs();
      this.openNode(drawing.tree.nodes[i]);
    });
    canvas.addEventListener('wheel', event => {
      const before = drawing.scroll;
      drawing.scroll += drawing.upwards ? -event.deltaY : event.deltaY;
      drawing.draw();
      if (drawing.scroll !== before) event.preventDefault();
    }, {passive: false});
  }

  openNode(node) {
    if (node.fn >= 0 && node.fn < this.run.functions) this.page.open(node.fn, false);
  }

  hover(drawing, event) {
    const i = drawing.at(event.offsetX, event.offsetY), tip = this.tip;
    tip.style.display = i < 0 ? 'none' : 'block';
    if (i < 0) return;
    const fn = drawing.tree.nodes[i].fn;
    tip.replaceChildren(shown(this.describe(drawing.tree, i), 400), el('br'),
      el('span', {}, fn >= 0 && fn < this.run.functions ? this.run.libraries[fn] : ''));
    const x = event.offsetX + 14, room = this.flame.clientWidth - tip.offsetWidth - 4;
    tip.style.left = Math.max(0, Math.min(x, room)) + 'px';
    tip.style.top = drawing.canvas.offsetTop + event.offsetY + 18 + 'px';
  }

  focus() {
    (this.state.table ? this.table.firstChild : this.canvas).focus({preventScroll: true});
  }

  setFocused(focused) {
    this.main.focused = focused;
    this.main.draw();
    if (focused) say(this.describe(this.tree, this.main.focus));
  }

  zoomTo(i) {
    this.main.zoom = i;
    this.main.focus = i;
    this.draw();
    say('zoomed to ' + this.describe(this.tree, i));
  }

  key(event) {
    const {tree, main} = this, i = main.focus;
    const next = {
      ArrowDown: () => tree.first[i] < tree.last[i] ? tree.first[i] : i,
      ArrowUp: () => tree.parent[i],
      ArrowRight: () => i + 1 < tree.last[tree.parent[i]] ? i + 1 : i,
      ArrowLeft: () => i > tree.first[tree.parent[i]] ? i - 1 : i,
      Home: () => 0,
    }[event.key];
    if (next) main.reveal(next()), this.draw(), say(this.describe(tree, main.focus));
    else if (event.key === 'Enter') this.zoomTo(i);
    else if (event.key === 'Escape') this.zoomTo(tree.parent[main.zoom]);
    else if (event.key === ' ') this.openNode(tree.nodes[i]);
    else return;
    event.preventDefault();
  }

  // Functions whose name or library matches; the share is of the outermost frames among them.
  find(kept) {
    const begun = performance.now(), wanted = matcher(this.search.value);
    this.matches = null;
    this.hits = [];
    if (wanted) {
      this.matches = new Set();
      this.run.names.forEach((name, fn) => {
        if (wanted.test(name) || (fn < this.run.functions && wanted.test(this.run.libraries[fn]))) this.matches.add(fn);
      });
      this.sumFound();
    } else
      this.found.textContent = '';
    if (!kept) this.at = -1, this.draw();
    this.search.dataset.took = (performance.now() - begun).toFixed(2);
  }

  sumFound() {
    const {tree} = this, inside = new Uint8Array(tree.size);
    let sum = 0;
    for (let i = 1; i < tree.size; i++) {
      const is = this.matches.has(tree.nodes[i].fn), covered = inside[tree.parent[i]];
      inside[i] = covered || is ? 1 : 0;
      if (is) this.hits.push(i);
      if (is && !covered) sum += tree.nodes[i].total;
    }
    this.hits.sort((a, b) => tree.nodes[b].total - tree.nodes[a].total || a - b);
    this.share = this.hits.length ? percent(sum, tree.whole) + ' in ' + count(this.hits.length) +
      (this.hits.length === 1 ? ' frame' : ' frames') : 'nothing found';
    this.found.textContent = this.share;
    say(this.share);
  }

  next(step) {
    if (!this.hits.length) return;
    this.at = (this.at + step + this.hits.length) % this.hits.length;
    this.main.reveal(this.hits[this.at]);
    this.draw();
    this.found.textContent = this.share + ', at ' + (this.at + 1);
    say(this.at + 1 + ' of ' + this.hits.length + ': ' + this.describe(this.tree, this.hits[this.at]));
  }

  // The alternative to the picture: the same tree, row by row, opened where it is asked for.
  showTable() {
    const body = el('tbody'), {tree} = this;
    const add = (i, before) => {
      const node = tree.nodes[i], inner = tree.first[i] < tree.last[i];
      const toggle = el('button', {class: 'fold', type: 'button', 'aria-expanded': inner ? 'false' : null,
        'aria-label': (inner ? 'open ' : '') + tree.name(i), disabled: !inner}, inner ? '▸' : '');
      const row = el('tr', {'data-depth': tree.depth[i]}, el('td', {style: 'padding-left:' + (8 + 16 * (tree.depth[i] - 1)) + 'px'},
        toggle, node.fn < this.run.functions ? el('button', {class: 'link', type: 'button', onclick: () => this.openNode(node)}, tree.name(i))
        : tree.name(i)),
        el('td', {}, this.unit(node.total)), el('td', {}, this.unit(node.own)),
        el('td', {style: bar(node.total / tree.whole)}, percent(node.total, tree.whole)));
      toggle.addEventListener('click', () => this.fold(toggle, row, i, add));
      body.insertBefore(row, before);
    };
    for (let i = tree.first[0]; i < Math.min(tree.last[0], tree.first[0] + 200); i++) add(i, null);
    this.table.replaceChildren(el('div', {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Tree of calls'},
      el('table', {}, el('thead', {}, el('tr', {}, ['function', MEASURES[this.state.measure], 'itself', 'share'].map((text, i) =>
        el('th', {scope: 'col', 'data-unit': i ? 'time' : null}, text)))), body)));
  }

  fold(toggle, row, i, add) {
    const open = toggle.getAttribute('aria-expanded') === 'true', {tree} = this;
    toggle.setAttribute('aria-expanded', String(!open));
    toggle.textContent = open ? '▸' : '▾';
    if (open) {
      while (row.nextSibling && +row.nextSibling.dataset.depth > tree.depth[i]) row.nextSibling.remove();
      return;
    }
    const after = row.nextSibling;
    for (let child = tree.first[i]; child < Math.min(tree.last[i], tree.first[i] + 200); child++) add(child, after);
  }
}
