// SPDX-License-Identifier: MIT
// The tables of the page, sortable and filterable. Heads of the page say which keys the columns are;
// rows come from the report's data, so rows that were left out of the page are here, too.

// Rows of a table at first, so that the next table is not pages away; and at each press of a button.
const FIRST_ROWS = 30, MORE_ROWS = 1000;

// Words that make room for numbers where there is little.
const SIDE = ['library', 'category', 'group', 'process', 'thread', 'owner'];
// Rows that lead to a graph of their own: the column of the link, and what they are known by.
const taskKey = row => 'task\n' + row.id + '\n' + row.duration_s;
const SCOPES = {'tasks.list': ['id', taskKey], 'tasks.outliers': ['id', taskKey],
  process_list: ['process', row => 'process\n' + row.process],
  thread_list: ['tid', row => 'thread\n' + row.process + '\n' + row.tid]};

class Table {
  constructor(page, box, list) {
    this.page = page;
    this.box = box;
    this.list = list;
    this.columns = [...box.querySelectorAll('th')].map(th => ({th, key: th.dataset.key, unit: th.dataset.unit, text: th.textContent}));
    this.sort = null;
    this.most = FIRST_ROWS;
    this.dropEmpty();
    this.build();
    const first = box.dataset.list === 'functions' && this.columns.find(column => column.key === 'pct');
    if (first) this.by(first);
    else this.show();
  }

  // Columns in which no row has a value, or all have 0, leave their room to the others. Which were all 0 is said.
  dropEmpty() {
    const values = column => this.list.map(row => find(row, column.key));
    const none = value => value === null || value === undefined || value === '' || value === false;
    this.every = this.columns;
    const empty = column => values(column).every(value => none(value) || value === 0);
    const gone = this.columns.slice(1).filter(empty);
    this.columns = this.columns.filter(column => !gone.includes(column));
    this.zero = gone.filter(column => values(column).includes(0)).map(column => column.text);
    for (const {th} of gone) th.remove();
    for (const column of this.columns.slice(1)) if (SIDE.includes(column.key)) column.side = column.th.className = 'side';
    this.box.querySelector('table').className = this.columns.map(({unit}, i) => unit === 'name' || unit === 'word' ? 'w' + (i + 1) : '').join(' ');
  }

  build() {
    this.filter = el('input', {type: 'search', placeholder: 'filter', 'aria-label': 'Filter ' + this.box.querySelector('h3').textContent,
      oninput: () => this.show()});
    this.said = el('span', {class: 'said', role: 'status'});
    this.more = el('button', {type: 'button', onclick: () => { this.most += MORE_ROWS; this.show(); }});
    this.box.querySelector('.scroll').before(el('div', {class: 'tools'}, this.list.length > 5 && this.filter,
      el('button', {type: 'button', onclick: () => copy(this.tsv())}, 'copy as TSV'), this.said));
    this.box.append(this.more);
    const left = this.box.querySelector('.more');
    if (left) left.remove();
    for (const column of this.columns)
      column.th.replaceChildren(el('button', {type: 'button', onclick: () => this.by(column)}, column.text));
  }

  by(column) {
    const falling = column.unit !== 'name' && column.unit !== 'word';
    const again = this.sort && this.sort.column === column;
    this.sort = {column, falling: again ? !this.sort.falling : falling};
    for (const other of this.columns) other.th.removeAttribute('aria-sort');
    column.th.setAttribute('aria-sort', this.sort.falling ? 'descending' : 'ascending');
    this.show();
  }

  rows() {
    const wanted = matcher(this.filter.value);
    let rows = wanted ? this.list.filter(row => this.columns.some(({key, unit}) =>
      (unit === 'name' || unit === 'word') && wanted.test(String(find(row, key))))) : this.list.slice();
    if (this.sort) {
      const {column: {key}, falling} = this.sort, sign = falling ? -1 : 1;
      const value = row => { const v = find(row, key); return v === undefined ? null : v; };
      rows.sort((a, b) => {
        const x = value(a), y = value(b);
        if (x === null || y === null) return (x === null) - (y === null);
        return sign * (typeof x === 'string' && typeof y === 'string' ? x.localeCompare(y) : x < y ? -1 : x > y ? 1 : 0);
      });
    }
    return rows;
  }

  cell(row, {key, unit, side}) {
    const value = find(row, key), scope = this.scopeOf(row, key);
    if (value && scope !== undefined)
      return el('td', {}, el('button', {class: 'link', type: 'button', title: 'shows its graph', onclick: () => this.page.showScope(scope)}, value));
    if (unit === 'name' && value && this.page.number(value, row.library) >= 0)
      return el('td', {}, el('button', {class: 'link', type: 'button',
        onclick: () => this.page.open(this.page.number(value, row.library), true)}, value));
    return el('td', {class: side, style: unit === 'percent' && value > 0 ? bar(value / 100) : null}, format(unit, value));
  }

  scopeOf(row, key) {
    const [column, keyOf] = SCOPES[this.box.dataset.list] || [];
    return column === key ? this.page.graph.scopeOf.get(keyOf(row)) : undefined;
  }

  show() {
    const rows = this.rows();
    this.box.querySelector('tbody').replaceChildren(...rows.slice(0, this.most).map(row =>
      el('tr', {}, this.columns.map(column => this.cell(row, column)))));
    this.more.hidden = rows.length <= this.most;
    this.more.textContent = count(Math.min(rows.length - this.most, MORE_ROWS)) + ' more rows';
    this.said.textContent = (rows.length < this.list.length ? count(rows.length) + ' of ' : '') + count(this.list.length) +
      (this.list.length === 1 ? ' row' : ' rows') + (this.zero.length ? '; 0 in all: ' + this.zero.join(', ') : '');
  }

  // The row of a function, if it has one here, is shown and marked.
  reveal(fn) {
    const is = row => this.page.number(row.name, row.library) === fn;
    if (!this.list.some(is)) return false;
    this.filter.value = '';
    const at = this.rows().findIndex(is);
    this.most = Math.max(this.most, at + 1);
    this.show();
    const row = this.box.querySelector('tbody').rows[at];
    row.classList.add('here');
    row.scrollIntoView({block: 'center'});
    row.querySelector('button').focus({preventScroll: true});
    return true;
  }

  // Numbers as they are, for a spreadsheet.
  tsv() {
    const clean = value => value === null || value === undefined ? '' : String(value).replace(/[\t\r\n]/g, ' ');
    return [this.every.map(column => column.key), ...this.rows().map(row =>
      this.every.map(({key}) => clean(find(row, key))))].map(cells => cells.join('\t')).join('\n') + '\n';
  }
}

// Lists that the page has and the report does not: the writer of the page derives the same.
function derive(report, diff) {
  const lines = [...report.functions, ...report.sampled].flatMap(fn => fn.lines.map(line => ({...line, function: fn.name})));
  lines.sort((a, b) => b.self_s - a.self_s);
  const directions = Object.entries(report.transfers).filter(([, row]) => row.count > 0).map(([direction, row]) => ({...row, direction}));
  const copy_sites = report.copy_sites.map(site => ({...site, path: site.stack.map(frame => frame.function +
    (frame.file ? ' ' + frame.file.replace(/.*\//, '') + ':' + frame.line : '')).join(' ← ')}));
  const uncounted = {calls: null, median_s: null, p99_s: null, max_s: null};
  const counted = list => list.map(row => row.calls > 0 || row.in_flight > 0 ? row : {...row, ...uncounted});
  const phases = report.phases.map(row => row.tasks > 0 ? row : {...row, per_task_s: null, per_sample_s: null});
  const thread_list = report.thread_list.map(row => row.cpu_s > 0 ? row : {...row, runqueue_s: null, blocked_s: null});
  const tasks = {...report.tasks, list: report.tasks.list.map(row => row.cpu_s > 0 ? row : {...row, cpu_s: null})};
  return {...report, tasks, lines, directions, copy_sites, phases, thread_list, functions: counted(report.functions),
    framework: {...report.framework, functions: counted(report.framework.functions)},
    diff: diff && {...diff, differences: diff.differences.map(row => row.old_s > 0 ? {...row, factor: row.new_s / row.old_s} : row),
      removed: diff.functions.filter(row => !(row.new_calls > 0) && row.old_calls > 0)}};
}
