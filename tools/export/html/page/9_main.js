// SPDX-License-Identifier: MIT
// The views behind tabs, and what leads from one to another.

class Page {
  constructor(report, data, diff) {
    this.report = report;
    this.data = data;
    this.diff = diff;
    this.run = new Run(report, data);
    this.indexFunctions();
    this.main = document.querySelector('main');
    speaker = el('div', {class: 'hide', 'aria-live': 'polite', role: 'status'});
    this.main.append(speaker, fills());
    this.foldAdvice();
    this.addGraph();
    this.addSource();
    this.makeTabs();
    this.tables = [];
    this.show('overview');
  }

  // Rows of tables and frames of the graph find each other by name and library.
  indexFunctions() {
    this.byName = new Map();
    for (let i = this.run.functions - 1; i >= 0; i--) {
      this.byName.set(this.run.names[i], i);
      this.byName.set(this.run.names[i] + '\n' + this.run.libraries[i], i);
    }
    this.rows = new Map();
    for (const row of [...this.report.sampled, ...this.report.functions]) {
      const fn = row.kind === 'root' ? this.byName.get('own code of ' + row.library) : this.number(row.name, row.library);
      if (fn >= 0) this.rows.set(fn, row);
    }
    this.changes = new Map();
    if (this.diff) for (const row of this.diff.functions) {
      const fn = row.name === '(own code)' ? this.number('own code of ' + row.library) : this.number(row.name, row.library);
      if (fn >= 0) this.changes.set(fn, row);
    }
  }

  number(name, library) {
    const exact = library === undefined ? undefined : this.byName.get(name + '\n' + library);
    const found = exact === undefined ? this.byName.get(name) : exact;
    return found === undefined ? -1 : found;
  }

  rowOf(fn) {
    return this.rows.get(fn);
  }

  changeRow(fn) {
    return this.changes.get(fn);
  }

  // By the verdict of the comparison alone: what is within chance is grey, however large it looks.
  // Other numbers of calls are no chance; as in its text, what they hardly changed of the wall is none.
  verdict(fn) {
    const row = this.changes.get(fn);
    if (!row) return 'noise';
    if (!(row.old_calls > 0) && row.new_calls > 0 && !(row.old_s > 0)) return 'added';
    const least = 0.001 * Math.min(this.diff.headline.old_s, this.diff.headline.new_s);
    if (!row.time_differs && !(row.calls_differ && Math.abs(row.wall_change_s) >= least)) return 'noise';
    return row.change_s > 0 ? 'slower' : 'faster';
  }

  changeOf(fn) {
    const row = this.changes.get(fn);
    return row ? ', ' + (this.verdict(fn) !== 'noise' ? format('change', row.change_s) + ' against before' : 'no change beyond chance') : '';
  }

  // The first pieces of advice leave room for the graph.
  foldAdvice() {
    const more = [...document.querySelectorAll('#advice .advice > li')].slice(3);
    if (!more.length) return;
    const button = el('button', {type: 'button', 'aria-expanded': 'false', onclick: () => {
      for (const item of more) item.hidden = !item.hidden;
      button.setAttribute('aria-expanded', String(!more[0].hidden));
      button.textContent = more[0].hidden ? more.length + ' more' : 'fewer';
    }}, more.length + ' more');
    for (const item of more) item.hidden = true;
    document.getElementById('advice').append(button);
  }

  addGraph() {
    const section = el('section', {id: 'graph', 'data-view': 'Graph'}, el('h2', {}, 'Where the time went'));
    const advice = document.getElementById('advice');
    advice.after(section);
    this.graph = new Graph(this);
    section.append(this.graph.split);
    this.panel = new Panel(this, this.graph.panel);
    addEventListener('resize', () => this.graph.draw());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.graph.restyle());
  }

  addSource() {
    const section = sourceSection(this.report, this.data), before = document.getElementById('functions');
    if (section && before) before.after(section);
  }

  makeTabs() {
    const sections = [...this.main.querySelectorAll('section')];
    this.views = new Map([['overview', ['comparison', 'advice', 'graph', 'notes'].map(id => document.getElementById(id)).filter(Boolean)]]);
    for (const section of sections) {
      if (this.views.get('overview').includes(section)) continue;
      this.views.set(section.id, [section]);
      section.querySelector('h2').classList.add('tab');
    }
    const tab = (id, text) => el('button', {role: 'tab', type: 'button', id: 'tab-' + id, 'aria-selected': 'false', onclick: () => this.show(id),
      'aria-controls': this.views.get(id).map(section => section.id).join(' ')}, text);
    this.tabs = new Map([...this.views.keys()].map(id => [id, tab(id, id === 'overview' ? 'Overview' : this.views.get(id)[0].dataset.view)]));
    const list = el('div', {role: 'tablist', 'aria-label': 'Views', onkeydown: event => this.moveTab(event)}, [...this.tabs.values()]);
    this.main.querySelector('header').after(el('div', {class: 'top'}, list, this.themeButton()));
    addEventListener('keydown', event => {
      if (event.key !== '/' || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) return;
      event.preventDefault();
      this.show('overview');
      this.graph.search.focus();
    });
  }

  moveTab(event) {
    const ids = [...this.tabs.keys()], step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    const next = ids[(ids.indexOf(this.view) + step + ids.length) % ids.length];
    this.show(next);
    this.tabs.get(next).focus();
  }

  themeButton() {
    const dark = () => document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    return el('button', {type: 'button', 'aria-label': 'Light or dark', onclick: () => {
      document.documentElement.dataset.theme = dark() ? 'light' : 'dark';
      this.graph.restyle();
    }}, '◐');
  }

  show(id) {
    this.view = id;
    for (const [key, sections] of this.views) {
      for (const section of sections) section.classList.toggle('on', key === id);
      this.tabs.get(key).setAttribute('aria-selected', String(key === id));
      this.tabs.get(key).tabIndex = key === id ? 0 : -1;
    }
    if (id === 'overview') this.graph.draw();
    else this.fill(this.views.get(id)[0]);
  }

  // Tables and pictures of a view are made when it is first seen.
  fill(section) {
    if (section.dataset.filled) return;
    section.dataset.filled = 'yes';
    const makers = {tasks: taskCharts, devices: transferCharts, processes: processCharts};
    const charts = makers[section.id] ? makers[section.id](this.report, this.data) : [];
    if (charts.length) section.querySelector('h2').after(el('div', {class: section.id === 'processes' ? 'charts wide' : 'charts'}, charts));
    this.derived = this.derived || derive(this.report, this.diff);
    for (const box of section.querySelectorAll('.table')) {
      const list = find(this.derived, box.dataset.list);
      if (list) this.tables.push(new Table(this, box, list));
    }
    this.addContents(section);
  }

  // Names of the tables of a long view: what is far below the window is found, too.
  addContents(section) {
    const boxes = [...section.querySelectorAll('.table')];
    if (boxes.length < 3) return;
    section.querySelector('h2').after(el('nav', {class: 'tools', 'aria-label': 'Tables of this view'}, boxes.map(box =>
      el('button', {type: 'button', onclick: () => box.scrollIntoView()}, box.querySelector('h3').textContent))));
  }

  open(fn, jump) {
    if (jump) this.show('overview');
    this.panel.open(fn);
    this.graph.draw();
    if (jump) {
      this.searchFor(this.run.names[fn]);
      this.graph.split.scrollIntoView({block: 'start'});
      this.panel.box.querySelector('h3').focus({preventScroll: true});
    }
    say(this.run.names[fn]);
  }

  showScope(number) {
    this.show('overview');
    this.graph.showScope(number);
    this.graph.split.scrollIntoView({block: 'start'});
    this.graph.scopes.focus({preventScroll: true});
  }

  // From a function's panel to its row: the way back from a row's link.
  showRow(fn) {
    this.show('functions');
    const table = this.tables.filter(one => one.box.closest('section').id === 'functions').find(one => one.reveal(fn));
    say(table ? 'row of ' + this.run.names[fn] : 'no row');
  }

  searchFor(name) {
    this.show('overview');
    this.graph.search.value = '^' + name.slice(0, 200).replace(/[.*+?^${}()|[\]\\]/g, '\\$&') + (name.length > 200 ? '' : '$');
    this.graph.find();
    this.graph.next(1);
  }

  sandwich(fn) {
    this.show('overview');
    this.graph.search.value = '';
    this.graph.state.sandwich = fn;
    this.graph.state.scope = this.graph.state.scope.task === undefined ? this.graph.state.scope : {};
    this.graph.refresh();
  }
}

// Called by the script in the page, with what it unpacked.
function begin(report, data, diff) {
  const begun = performance.now();
  new Page(report, data, diff);
  document.documentElement.dataset.ready = (performance.now() - begun).toFixed(1);
}
