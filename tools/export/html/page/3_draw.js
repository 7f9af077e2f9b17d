// SPDX-License-Identifier: MIT
// One drawn tree on a canvas. Frames narrower than half a pixel, and rows outside of the window, are
// not visited: what is drawn depends on the window and not on the size of the run.

const PLAIN = ['dsl', 'other', 'start', 'cuda', 'noise'];
const PATTERNED = ['framework', 'transfer', 'profiler', 'waiting', 'import', 'io', 'kernels', 'slower', 'faster', 'added'];
const ROW = 21, FONT = '12px ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace';

// Lines and dots over a fill, so that a category is seen without colours, too.
function makePattern(context, kind) {
  const tile = document.createElement('canvas'), size = 8;
  tile.width = tile.height = size;
  const to = tile.getContext('2d');
  to.strokeStyle = to.fillStyle = colour('pattern');
  to.lineWidth = 1.3;
  to.beginPath();
  if (kind === 'transfer' || kind === 'slower') to.moveTo(-2, 10), to.lineTo(10, -2), to.moveTo(-2, 2), to.lineTo(2, -2);
  if (kind === 'added' || kind === 'import') to.moveTo(-2, -2), to.lineTo(10, 10);
  if (kind === 'kernels') to.moveTo(0, 2.5), to.lineTo(8, 2.5);
  if (kind === 'framework') to.moveTo(4.5, 0), to.lineTo(4.5, 8);
  if (kind === 'profiler') to.moveTo(0, 0.5), to.lineTo(8, 0.5), to.moveTo(0, 4.5), to.lineTo(8, 4.5);
  to.stroke();
  if (kind === 'waiting' || kind === 'faster' || kind === 'io') to.fillRect(1, 1, 1.6, 1.6), to.fillRect(5, 5, 1.6, 1.6);
  return context.createPattern(tile, 'repeat');
}

class Paint {
  constructor(context) {
    this.context = context;
    this.refresh();
  }

  refresh() {
    this.fills = {};
    this.patterns = {};
    for (const kind of PLAIN) this.fills[kind] = colour(kind);
    for (const kind of PATTERNED) {
      this.fills[kind] = colour(kind);
      this.patterns[kind] = makePattern(this.context, kind);
    }
    for (const name of ['ink', 'edge', 'mark', 'soft', 'sheet', 'focus', 'paper']) this[name] = colour(name);
  }
}

class Drawing {
  constructor(canvas, options) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d');
    this.paint = new Paint(this.context);
    this.options = options;
    this.zoom = this.focus = 0;
    this.scroll = 0;
    this.boxes = [];
  }

  // The first `skip` rows are left out: those that the other half of a sandwich has.
  setTree(tree, upwards, skip) {
    this.tree = tree;
    this.upwards = upwards;
    this.skip = skip;
    this.zoom = this.focus = 0;
    this.scroll = 0;
    this.seen = null;
  }

  // As many rows as the tree has, and never more than the window.
  height() {
    const most = this.options.height || Math.max(240, Math.floor(innerHeight * 0.66));
    return Math.min(most, this.rows() * ROW + 2);
  }

  rows() {
    return Math.max(1, this.deepest() + 1 - this.skip);
  }

  // The lowest row in which anything can be seen: the canvas ends there, and does not shrink while one zooms.
  deepest() {
    const tree = this.tree, key = this.zoom + ' ' + this.canvas.clientWidth;
    if (this.seen === key) return this.low;
    const zooms = this.zoom ? [0, this.zoom] : [0], width = this.canvas.clientWidth || 800;
    this.low = 0;
    for (const top of zooms) {
      const least = 0.5 * tree.nodes[top].total / width, stack = [top];
      while (stack.length) {
        const i = stack.pop();
        if (tree.depth[i] > this.low) this.low = tree.depth[i];
        for (let child = tree.first[i]; child < tree.last[i] && tree.nodes[child].total >= least; child++) stack.push(child);
      }
    }
    this.seen = key;
    return this.low;
  }

  resize() {
    const ratio = devicePixelRatio || 1, width = this.canvas.clientWidth || 800, height = this.height();
    this.width = width;
    this.tall = height;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.height = height + 'px';
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  draw() {
    const begun = performance.now(), context = this.context;
    this.resize();
    context.clearRect(0, 0, this.width, this.tall);
    context.font = FONT;
    context.textBaseline = 'middle';
    this.letter = this.letter || context.measureText('mmmmmmmmmm').width / 10;
    this.boxes = [];
    this.scroll = Math.max(0, Math.min(this.scroll, this.rows() * ROW + 2 - this.tall));
    const zoomed = this.tree.nodes[this.zoom];
    this.from = this.tree.x[this.zoom];
    this.scale = zoomed.total > 0 ? this.width / zoomed.total : 0;
    for (const i of [0, ...this.tree.path(this.zoom).slice(0, -1)]) if (i !== this.zoom) this.box(i, 0, this.width, true);
    this.drawBelow(this.zoom);
    this.drawFocus();
    this.took = performance.now() - begun;
    this.canvas.dataset.took = this.took.toFixed(2);
    this.canvas.dataset.boxes = this.boxes.length;
  }

  // Children are by falling size: after the first that cannot be seen no other can.
  drawBelow(top) {
    const tree = this.tree, stack = [top], last = Math.ceil((this.scroll + this.tall) / ROW) + this.skip;
    while (stack.length) {
      const i = stack.pop();
      const left = (tree.x[i] - this.from) * this.scale, width = tree.nodes[i].total * this.scale;
      this.box(i, left, width, false);
      if (tree.depth[i] >= last) continue;
      for (let child = tree.first[i]; child < tree.last[i]; child++) {
        if (tree.nodes[child].total * this.scale < 0.5) break;
        stack.push(child);
      }
    }
  }

  top(i) {
    const y = (this.tree.depth[i] - this.skip) * ROW - this.scroll;
    return this.upwards ? this.tall - ROW - y : y;
  }

  box(i, left, width, above) {
    const y = this.top(i);
    if (y < -ROW || y > this.tall || this.tree.depth[i] < this.skip) return;
    const context = this.context, node = this.tree.nodes[i], paint = this.paint;
    const kind = i === 0 ? 'noise' : this.options.kind(node);
    const dim = above || (this.options.dims && this.options.dims(node, i));
    const gap = width > 3 ? 1 : 0;
    context.globalAlpha = dim ? 0.42 : node.kind === 1 ? 0.78 : 1;
    context.fillStyle = paint.fills[kind];
    context.fillRect(left, y, width - gap, ROW - 1);
    if (paint.patterns[kind] && width > 6) {
      context.fillStyle = paint.patterns[kind];
      context.fillRect(left, y, width - gap, ROW - 1);
    }
    this.shade(node.fn, dim, left, y, width - gap);
    if (width > 3 * this.letter) this.label(i, left, width, y);
    if (width > 2) this.boxes.push([i, left, y, width]);
  }

  // Neighbours of one category are told apart by a little more or less ink, the same everywhere for a
  // function. Text keeps a contrast of 4.5:1 on all of them.
  shade(fn, dim, left, y, width) {
    const context = this.context;
    context.globalAlpha = dim || fn < 0 ? 0 : (fn * 7 % 4) * 0.02;
    context.fillStyle = this.paint.ink;
    context.fillRect(left, y, width, ROW - 1);
    context.globalAlpha = 1;
  }

  // The name, and at the right the share where there is room for both.
  label(i, left, width, y) {
    const from = Math.max(left, 0), to = Math.min(left + width, this.width), room = Math.floor((to - from - 8) / this.letter);
    if (room < 2) return;
    const node = this.tree.nodes[i], sign = i > 0 && this.options.sign ? this.options.sign(node) : '';
    const name = sign + shown(this.tree.name(i), 300), text = name.length > room ? name.slice(0, room - 1) + '…' : name;
    const context = this.context;
    context.fillStyle = this.paint.ink;
    context.fillText(text, from + 4, y + ROW / 2);
    const value = i > 0 ? percent(node.total, this.tree.whole) : this.options.unit(node.total);
    const share = name.length + value.length + 3 < room ? value : '';
    if (!share) return;
    context.textAlign = 'right';
    context.fillText(share, to - 6, y + ROW / 2);
    context.textAlign = 'left';
  }

  drawFocus() {
    const context = this.context;
    for (const [i, left, y, width] of this.boxes) {
      const marked = this.options.marks && i > 0 && this.options.marks(this.tree.nodes[i]);
      if (!marked && i !== this.focus) continue;
      context.strokeStyle = i === this.focus && this.focused ? this.paint.focus : this.paint.mark;
      if (i === this.focus && !marked && !this.focused) continue;
      context.lineWidth = i === this.focus ? 2.5 : 1.5;
      context.strokeRect(left + 1, y + 1, Math.max(1, width - 3), ROW - 3);
    }
  }

  at(x, y) {
    for (let k = this.boxes.length - 1; k >= 0; k--) {
      const [i, left, top, width] = this.boxes[k];
      if (x >= left && x < left + width && y >= top && y < top + ROW) return i;
    }
    return -1;
  }

  // Makes a frame visible: by scrolling, and by zooming out or in where it is too narrow or outside.
  reveal(i) {
    const tree = this.tree;
    let inside = i === this.zoom || tree.path(i).includes(this.zoom) || this.zoom === 0;
    if (!inside && !tree.path(this.zoom).includes(i)) this.zoom = 0, inside = true;
    this.focus = i;
    const scale = this.width / tree.nodes[this.zoom].total;
    if (inside && i !== this.zoom && tree.nodes[i].total * scale < 3) this.zoom = tree.parent[i];
    const y = Math.max(0, tree.depth[i] - this.skip) * ROW;
    if (y < this.scroll) this.scroll = y;
    if (y + ROW > this.scroll + this.tall) this.scroll = y + 2 * ROW - this.tall;
  }
}
