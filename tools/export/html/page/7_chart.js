// SPDX-License-Identifier: MIT
// Small pictures of tasks, transfers, devices and processes. Each has the table with its numbers
// below it in the same view, so to a screen reader it is one image with a sentence.

function picture(width, height, label, ...children) {
  return el('svg', {viewBox: '0 0 ' + width + ' ' + height, role: 'img', 'aria-label': shown(label, 300)}, children);
}
function figure(title, drawing) {
  return el('figure', {}, el('figcaption', {}, title), drawing);
}
function hint(shape, text) {
  const title = document.createElementNS('http://www.w3.org/2000/svg', 'title');
  title.textContent = shown(text, 300);
  shape.append(title);
  return shape;
}
function label(x, y, text, anchor, cls) {
  return el('text', {x, y, 'text-anchor': anchor || 'start', class: cls}, shown(String(text), 60));
}

// Columns side by side: [{label, value, text}].
function columns(bars, {width = 460, height = 130, log = false, cls = 'f-dsl'} = {}) {
  const most = Math.max(...bars.map(bar => bar.value), 1), step = Math.min(56, width / bars.length);
  const tall = value => value <= 0 ? 0 : (height - 20) * (log ? Math.log1p(value) / Math.log1p(most) : value / most);
  const every = Math.max(1, Math.ceil(bars.length * 52 / width));
  return picture(width, height, bars.filter(bar => bar.value > 0).map(bar => bar.text).join('; '), bars.map((bar, i) => [
    hint(el('rect', {x: i * step + 1, y: height - 18 - tall(bar.value), width: Math.max(1, step - 2), height: tall(bar.value), class: bar.cls || cls, rx: 1.5}), bar.text),
    i % every === 0 && label(Math.min(i * step + 1, width), height - 5, bar.label, i * step + 45 > width && i > 0 ? 'end' : 'start'),
  ]), el('line', {x1: 0, x2: width, y1: height - 17.5, y2: height - 17.5, class: 'axis'}));
}

// A point per task on one line; those far away have their names.
function strip(points, width = 460, height = 70) {
  const values = points.map(point => point.value), most = Math.max(...values, 1e-12), least = Math.max(Math.min(...values), most * 1e-4);
  const place = value => 8 + (width - 60) * (most > least ? Math.log(Math.max(value, least) / least) / Math.log(most / least) : 0);
  const far = points.filter(point => point.far).slice(0, 4);
  return picture(width, height, count(points.length) + ' tasks from ' + time(Math.min(...values)) + ' to ' + time(most) +
    (far.length ? '; far from the others: ' + far.map(point => point.name).join(', ') : ''),
    el('line', {x1: 0, x2: width, y1: height - 16, y2: height - 16, class: 'axis'}),
    points.slice(0, 2000).map((point, i) => hint(el('circle', {cx: place(point.value), cy: 10 + (i * 7919 % 97) / 97 * (height - 34), r: point.far ? 3.5 : 2.5,
      class: point.far ? 'f-mark' : 'f-dsl'}), point.name + ': ' + time(point.value))),
    far.slice(0, 2).map((point, i) => label(place(point.value) + (place(point.value) > width - 110 ? -8 : 8), 13 + 13 * i, point.name, place(point.value) > width - 110 ? 'end' : 'start', 'name')),
    label(8, height - 3, time(least)), label(place(most), height - 3, time(most), 'end'));
}

// Rows of parts: [{name, parts: [[class, value, text]]}], all to one scale.
function rows(list, {width = 460, left = 130, unit = time} = {}) {
  const most = Math.max(...list.map(row => row.parts.reduce((sum, part) => sum + part[1], 0)), 1e-12), scale = (width - left - 70) / most;
  return picture(width, 22 * list.length + 2, list.map(row => row.name + ' ' + row.parts.map(part => part[2]).join(', ')).join('; '), list.map((row, i) => {
    let x = left;
    const sum = row.parts.reduce((all, part) => all + part[1], 0);
    return [label(left - 6, 22 * i + 15, shown(row.name, 20), 'end', 'name'), row.parts.map(([cls, value, text]) => {
      const shape = hint(el('rect', {x, y: 22 * i + 3, width: Math.max(0, value * scale), height: 16, class: cls}), row.name + ': ' + text);
      x += value * scale;
      return shape;
    }), label(x + 5, 22 * i + 15, unit(sum))];
  }));
}

// Who lived when: [{name, start, length, parts}].
function lanes(list, wall, width = 940) {
  const left = 170, scale = (width - left - 4) / (wall || 1);
  return picture(width, 18 * list.length + 20, list.length + ' lanes over ' + time(wall), list.map((lane, i) => {
    let x = left + lane.start * scale;
    return [label(left - 6, 18 * i + 12, shown(lane.name, 26), 'end', 'name'), lane.parts.map(([cls, share, text]) => {
      const shape = hint(el('rect', {x, y: 18 * i + 2, width: Math.max(0.6, lane.length * share * scale), height: 13, class: cls}), lane.name + ': ' + text);
      x += lane.length * share * scale;
      return shape;
    })];
  }), label(left, 18 * list.length + 14, '0'), label(width, 18 * list.length + 14, time(wall), 'end'));
}

function projection(points, list) {
  const width = 460, height = 150, left = 58, last = points[points.length - 1];
  const most = Math.max(...points.map(point => point[3])), x = n => left + (width - left - 8) * n / last[0], y = s => height - 20 - (height - 30) * s / most;
  const line = key => points.map(point => x(point[0]).toFixed(1) + ',' + y(point[key]).toFixed(1));
  return picture(width, height, points.map(point => count(point[0]) + ' tasks: ' + time(point[1]) + ', ' + time(point[2]) + ' to ' + time(point[3])).join('; '),
    el('path', {d: 'M' + line(3).join('L') + 'L' + line(2).reverse().join('L') + 'Z', class: 'f-band'}), el('path', {d: 'M' + line(1).join('L'), class: 's-line'}),
    points.map(point => hint(el('circle', {cx: x(point[0]), cy: y(point[1]), r: 3, class: 'f-mark'}), count(point[0]) + ' tasks: ' + time(point[1]) + ' (' + time(point[2]) + ' to ' + time(point[3]) + ')')),
    el('line', {x1: left, x2: width, y1: height - 19.5, y2: height - 19.5, class: 'axis'}), label(left - 6, y(last[1]) + 4, time(last[1]), 'end'),
    label(left - 6, y(points[0][1]) + 4, y(points[0][1]) - y(last[1]) > 14 ? time(points[0][1]) : '', 'end'), label(x(points[0][0]), height - 5, count(points[0][0])), label(width, height - 5, count(last[0]) + ' tasks', 'end'));
}

function taskCharts(report, data) {
  const {list, histogram} = report.tasks, charts = [];
  if (!list.length) return charts;
  charts.push(figure('Duration of each task; those that stand out are named', strip(list.map(task =>
    ({value: task.duration_s, name: task.id || task.name, far: task.outlier})))));
  if (histogram.length) charts.push(figure('Tasks by duration', columns(histogram.map(bar => ({label: time(bar.from_s), value: bar.count,
    text: count(bar.count) + ' of ' + time(bar.from_s) + ' to ' + time(bar.to_s)})))));
  if (report.phases.length) charts.push(figure('Phases, thread time; waiting is dotted', rows(report.phases.slice(0, 12).map(phase => ({name: phase.name,
    parts: [['f-dsl', Math.max(0, phase.thread_s - phase.waiting_s), 'busy ' + time(phase.thread_s - phase.waiting_s)], ['f-waiting', phase.waiting_s, 'waiting ' + time(phase.waiting_s)]]})))));
  if (data.projection.length) charts.push(figure('What a run of more tasks would take, with the interval of 19 in 20 such runs', projection(data.projection)));
  const longest = list.map((task, i) => [task, i]).sort((a, b) => b[0].duration_s - a[0].duration_s).slice(0, 12).map(([task]) => task).filter(task => task.detailed);
  if (longest.length) charts.push(figure('The longest tasks by category: DSL, framework, transfer', rows(longest.map(task => ({name: task.id || task.name,
    parts: CATEGORIES.map(key => ['f-' + key, task[key + '_s'] || 0, key + ' ' + time(task[key + '_s'] || 0)])})))));
  return charts;
}

function transferCharts(report) {
  const charts = [], lists = report.transfer_list;
  const directions = Object.entries(report.transfers).filter(([, row]) => row.count > 0);
  for (const [direction] of directions) {
    const sizes = new Map();
    for (const row of lists) if (row.direction === direction) for (const [from, n] of row.sizes || []) sizes.set(from, (sizes.get(from) || 0) + n);
    if (sizes.size) charts.push(figure('Sizes of copies ' + direction + ', by powers of two', columns([...sizes].sort((a, b) => a[0] - b[0]).map(([from, n]) =>
      ({label: bytes(from), value: n, text: count(n) + ' from ' + bytes(from)})), {cls: 'f-transfer', log: true})));
  }
  if (directions.length) charts.push(figure('Time of copies: exposed (threads were in CUDA calls meanwhile), hidden', rows(directions.map(([name, row]) => ({name,
    parts: [['f-transfer', row.exposed_s, 'exposed ' + time(row.exposed_s)], ['f-waiting', row.hidden_s, 'hidden ' + time(row.hidden_s)]]})))));
  const rated = lists.filter(row => row.gb_s > 0 && row.best_gb_s > 0).slice(0, 10);
  if (rated.length) charts.push(figure('GB/s, of the best that the device reached in this direction', rows(rated.map(row => ({name: row.direction + ' ' + row.function,
    parts: [['f-transfer', row.gb_s, row.gb_s.toFixed(2) + ' GB/s'], ['f-waiting', Math.max(0, row.best_gb_s - row.gb_s), 'best ' + row.best_gb_s.toFixed(2)]]})),
    {unit: value => value.toFixed(2)})));
  const devices = report.devices.filter(device => device.busy_s !== null);
  if (devices.length) charts.push(figure('Devices over the run: kernels, copies, idle', rows(devices.map(device => ({name: device.name + ' ' + device.index,
    parts: [['f-dsl', device.compute_s, 'kernels ' + time(device.compute_s)], ['f-transfer', Math.max(0, device.busy_s - device.compute_s), 'copies alone ' + time(Math.max(0, device.busy_s - device.compute_s))],
      ['f-waiting', device.idle_s, 'idle ' + time(device.idle_s)]]})))));
  return charts;
}

function laneParts(row, waiting, sum) {
  const whole = sum || 1, parts = CATEGORIES.map(key => ['f-' + key, Math.max(0, (row.thread_s[key] || 0) - (key === 'framework' ? waiting : 0)) / whole, key + ' ' + time(row.thread_s[key] || 0)]);
  return [...parts, ['f-waiting', waiting / whole, 'waiting ' + time(waiting)], ['f-profiler', (row.overhead_s || 0) / whole, 'profiler ' + time(row.overhead_s || 0)]];
}

function processCharts(report, data) {
  const charts = [];
  if (report.process_list.length > 1) charts.push(figure('Processes over the run; parts of a bar are shares of the thread time, not moments', lanes(report.process_list.slice(0, 60).map(row =>
    ({name: row.process + ' ' + (row.role || ''), start: Math.max(0, row.start_s), length: row.lifetime_s, parts: laneParts(row, row.waiting_s, row.sum_s)})), report.wall_s)));
  if (report.thread_list.length) charts.push(figure('Threads over the run; parts of a bar are shares of its time, not moments', lanes(report.thread_list.slice(0, 80).map((row, i) =>
    ({name: row.tid + ' ' + row.name, start: Math.max(0, data.threads[i] ? data.threads[i].start * 1e-9 : 0), length: data.threads[i] ? data.threads[i].lived * 1e-9 : row.lifetime_s,
      parts: laneParts(row, row.waiting_s, row.sum_s)})), report.wall_s)));
  return charts;
}
