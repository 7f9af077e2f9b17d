// SPDX-License-Identifier: MIT
// All about one function: callers, callees, how long calls took, tasks, lines of source.

function bar(share) {
  const part = Math.max(0, Math.min(100, 100 * share)).toFixed(1) + '%';
  return 'background:linear-gradient(90deg,rgba(var(--heat),.30) ' + part + ',transparent ' + part + ')';
}

class Panel {
  constructor(page, box) {
    this.page = page;
    this.run = page.run;
    this.box = box;
    box.addEventListener('keydown', event => { if (event.key === 'Escape') this.close(); });
  }

  open(fn) {
    const {run} = this, row = this.page.rowOf(fn);
    this.fn = fn;
    this.box.hidden = false;
    this.box.parentNode.classList.add('open');
    this.box.replaceChildren(...[
      el('h3', {tabindex: -1}, run.names[fn]),
      el('p', {class: 'chip'}, el('i', {class: 'c-' + run.classes[fn]}), run.libraries[fn]),
      el('div', {class: 'tools'},
        el('button', {type: 'button', onclick: () => this.page.sandwich(fn)}, 'sandwich'),
        el('button', {type: 'button', onclick: () => this.page.searchFor(run.names[fn])}, 'find in graph'),
        row && row.kind !== 'root' && el('button', {type: 'button', onclick: () => this.page.showRow(fn)}, 'row in table'),
        el('button', {type: 'button', onclick: () => this.close()}, 'close')),
      row && this.figures(row), this.change(fn), this.relatives(fn), this.histogram(fn), this.tasks(fn), row && this.lines(row),
    ].flat(Infinity).filter(Boolean));
  }

  close() {
    this.box.hidden = true;
    this.box.parentNode.classList.remove('open');
    this.page.graph.draw();
    this.page.graph.focus();
  }

  figures(row) {
    const pairs = [['calls', row.kind === 'root' ? '' : count(row.calls)], ['self', time(row.self_s)], ['total', time(row.total_s)],
      ['self, of wall', row.pct === undefined ? '' : row.pct.toFixed(1) + ' %'], ['a call, median', time(row.median_s)],
      ['shortest', row.min_s > 0 ? time(row.min_s) : ''], ['99 of 100 below', time(row.p99_s)], ['longest', time(row.max_s)],
      ['group', row.group], ['in tasks', row.tasks ? count(row.tasks) : '']];
    return el('dl', {}, pairs.filter(([, value]) => value).map(([key, value]) => [el('dt', {}, key), el('dd', {}, value)]));
  }

  change(fn) {
    const row = this.page.changeRow(fn);
    return row && el('p', {}, 'was ' + time(row.old_s) + ', is ' + time(row.new_s) + ': ' +
      (this.page.verdict(fn) !== 'noise' ? 'changed by ' + format('change', row.change_s) : 'within chance (± ' + time(row.spread_s) + ')'));
  }

  list(title, sums, whole) {
    const rows = [...sums].filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1]).slice(0, 8);
    return rows.length ? [el('h4', {}, title), ...rows.map(([fn, value]) => el('div', {class: 'share', style: bar(value / whole)},
      fn >= 0 && fn < this.run.functions ? el('button', {class: 'link', type: 'button', onclick: () => this.page.open(fn, false)}, this.run.names[fn])
        : el('span', {}, fn < 0 ? 'the thread itself' : this.run.names[fn]),
      el('span', {}, percent(value, whole))))] : [];
  }

  // By thread time: that of its contexts, and of what is directly below them.
  relatives(fn) {
    const {run} = this, all = totals(run, run.own.thread), callers = new Map(), callees = new Map();
    let whole = 0;
    const add = (to, key, value) => to.set(key, (to.get(key) || 0) + value);
    for (const i of outermost(run, fn)) {
      whole += all[i];
      add(callers, run.parent[i] ? run.fn[run.parent[i]] : -1, all[i]);
    }
    for (let i = 1; i < run.size; i++)
      if (run.parent[i] && run.fn[run.parent[i]] === fn && run.fn[i] !== fn) add(callees, run.fn[i], all[i]);
    return [...this.list('called from', callers, whole), ...this.list('calls', callees, whole)];
  }

  histogram(fn) {
    const list = this.run.data.histograms[fn];
    if (!list || list.length < 3) return null;
    const from = i => time(2 ** (list[0] + i) * 1e-9);
    const bars = list.slice(1).map((calls, i) => ({label: from(i), value: calls, text: count(calls) + ' calls from ' + from(i)}));
    return [el('h4', {}, 'durations of calls, by powers of two; heights are logarithmic'), columns(bars, {width: 320, height: 90, log: true})];
  }

  tasks(fn) {
    const list = this.run.report.tasks.list, points = [];
    this.run.tasks.forEach((parts, task) => {
      for (const [other, ns] of parts) if (other === fn) points.push([task, ns * 1e-9]);
    });
    if (points.length < 2) return null;
    points.sort((a, b) => b[1] - a[1]);
    const middle = points[Math.floor(points.length / 2)][1];
    return [el('h4', {}, 'self time in ' + count(points.length) + ' tasks: median ' + time(middle) + ', most ' + time(points[0][1])),
      strip(points.map(([task, s]) => ({value: s, name: list[task] ? list[task].id || list[task].name : '', far: s > 5 * middle && s > 1e-6})), 320, 64)];
  }

  // Lines with samples, and the text around them where it could be read when the page was written.
  lines(row) {
    if (!row.lines || !row.lines.length) return null;
    const files = new Map();
    for (const line of row.lines) {
      if (!files.has(line.file)) files.set(line.file, new Map());
      files.get(line.file).set(line.line, line);
    }
    const most = Math.max(...row.lines.map(line => line.self_s), 1e-12);
    return [...files].slice(0, 3).map(([file, lines]) => [el('h4', {}, file.replace(/.*\//, '')),
      el('div', {class: 'source', tabindex: 0, role: 'group', 'aria-label': 'Lines of ' + file}, this.source(file, lines, most))]);
  }

  source(file, lines, most) {
    const texts = this.run.data.sources[file] || {}, around = new Set(lines.keys());
    for (const number of Object.keys(texts))
      for (const line of lines.keys()) if (Math.abs(line - number) <= 3) around.add(+number);
    const text = number => texts[number] || (lines.has(number) && lines.get(number).source) || '';
    const numbers = [...around].sort((a, b) => a - b).slice(0, 60);
    const indent = Math.min(...numbers.map(text).filter(one => one.trim()).map(one => one.search(/\S/)));
    return numbers.map((number, i) => {
      const line = lines.get(number);
      return sourceLine(numbers, i, line ? line.self_s / most : 0, line && time(line.self_s) + ' in ' + line.self_samples + ' samples',
        el('b', {}, line ? line.self_pct.toFixed(0) + ' %' : ''), text(number).slice(indent < 1e9 ? indent : 0));
    });
  }
}
