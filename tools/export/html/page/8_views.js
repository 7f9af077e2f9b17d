// SPDX-License-Identifier: MIT
// The pictures of each view.

const DIRECTIONS = {h2d: 'to the device', d2h: 'to the host', d2d: 'on the device', p2p: 'among devices'};
const PARTS = [['dsl', 'DSL'], ['framework', 'framework'], ['transfer', 'transfer'], ['waiting', 'waiting'], ['profiler', 'overhead']];

// Where no DSL was named, time that is no transfer is not divided any further: the headline is by owner.
function partsOf(report) {
  return report.choice ? [['running', 'running'], ...PARTS.slice(2)] : PARTS;
}
function fillOf(report, key) {
  return report.choice && key === 'framework' ? 'f-running' : 'f-' + key;
}

function taskCharts(report, data) {
  const {list, histogram} = report.tasks, charts = [];
  if (!list.length) return charts;
  charts.push(figure('Each task', 'by its duration, on a scale of logarithms; the line is the median, and what stands out has its name', width => strip(list.map(task =>
    ({value: task.duration_s, name: String(task.id || task.name), far: task.outlier})), width)));
  if (histogram.length) charts.push(figure('Distribution', 'how many tasks took so long', width => columns(histogram.map(bar => ({label: time(bar.from_s), value: bar.count,
    text: count(bar.count) + ' of ' + time(bar.from_s) + ' to ' + time(bar.to_s)})), {width, height: 120})));
  if (data.projection.length) charts.push(figure('Projection', 'what a run of more tasks would take, and the interval in which 19 of 20 such runs lie', width => projection(data.projection, width)));
  if (report.phases.length) charts.push(figure('Phases', 'thread time', width => rows(report.phases.slice(0, 12).map(phase => ({name: phase.name,
    parts: [['f-dsl', Math.max(0, phase.thread_s - phase.waiting_s), 'busy ' + time(phase.thread_s - phase.waiting_s)], ['f-waiting', phase.waiting_s, 'waiting ' + time(phase.waiting_s)]]})), {width}),
    keys([['dsl', 'busy'], ['waiting', 'waiting']])));
  const longest = list.map((task, i) => [task, i]).sort((a, b) => b[0].duration_s - a[0].duration_s).slice(0, 12).map(([task]) => task).filter(task => task.detailed);
  if (longest.length) charts.push(figure('The longest tasks', 'thread time by category', width => rows(longest.map(task => ({name: task.id || task.name,
    parts: CATEGORIES.map(key => [fillOf(report, key), task[key + '_s'] || 0, key + ' ' + time(task[key + '_s'] || 0)])})), {width}), keys(partsOf(report).slice(0, 3))));
  return charts;
}

// Copies of one direction, by powers of two: those without any are shown, too.
function sizesOf(report, direction) {
  const sizes = new Map(), bars = [];
  for (const row of report.transfer_list)
    if (row.direction === direction) for (const [from, n] of row.sizes || []) sizes.set(from, (sizes.get(from) || 0) + n);
  if (!sizes.size) return bars;
  const least = Math.min(...sizes.keys()), most = Math.max(...sizes.keys());
  for (let from = least; from <= most; from = from ? 2 * from : 1)
    bars.push({label: bytes(from), value: sizes.get(from) || 0, text: count(sizes.get(from) || 0) + ' copies of ' + bytes(from) + ' and more'});
  return bars;
}

function transferCharts(report) {
  const charts = [], directions = Object.entries(report.transfers).filter(([, row]) => row.count > 0);
  for (const [direction] of directions) {
    const bars = sizesOf(report, direction);
    if (bars.length) charts.push(figure('Sizes of copies, ' + (DIRECTIONS[direction] || direction), 'by powers of two; heights are logarithmic', width => columns(bars, {width, height: 110, cls: 'f-transfer', log: true})));
  }
  if (directions.length) charts.push(figure('Time of copies', 'exposed: threads were in CUDA calls meanwhile', width => rows(directions.map(([name, row]) => ({name: DIRECTIONS[name] || name,
    parts: [['f-transfer', row.exposed_s, 'exposed ' + time(row.exposed_s)], ['f-waiting', row.hidden_s, 'hidden ' + time(row.hidden_s)]]})), {width}), keys([['transfer', 'exposed'], ['waiting', 'hidden']])));
  const rated = report.transfer_list.filter(row => row.gb_s > 0 && row.best_gb_s > 0).slice(0, 10);
  if (rated.length) charts.push(figure('GB/s', 'against the best that the device reached in this direction', width => rows(rated.map(row => ({name: row.direction + ' ' + row.function,
    said: row.gb_s.toPrecision(3) + ' of ' + row.best_gb_s.toPrecision(3),
    parts: [['f-transfer', row.gb_s, row.gb_s.toFixed(2) + ' GB/s'], ['f-waiting', Math.max(0, row.best_gb_s - row.gb_s), 'best ' + row.best_gb_s.toFixed(2)]]})), {width, right: 96})));
  const devices = report.devices.filter(device => device.busy_s !== null);
  if (devices.length) charts.push(figure('Devices', 'over the run', width => rows(devices.map(device => ({name: device.name + (devices.length > 1 ? ' ' + device.index : ''), said: 'busy ' + format('percent', device.busy_pct),
    parts: [['f-dsl', device.compute_s, 'kernels ' + time(device.compute_s)], ['f-transfer', Math.max(0, device.busy_s - device.compute_s), 'copies alone ' + time(Math.max(0, device.busy_s - device.compute_s))],
      ['f-waiting', device.idle_s, 'idle ' + time(device.idle_s)]]})), {width}), keys([['dsl', 'kernels'], ['transfer', 'copies alone'], ['waiting', 'idle']])));
  return charts;
}

function laneParts(report, row) {
  const waiting = row.waiting_s, whole = row.sum_s || 1, parts = CATEGORIES.map(key => [fillOf(report, key), Math.max(0, (row.thread_s[key] || 0) - (key === 'framework' ? waiting : 0)) / whole, key + ' ' + time(row.thread_s[key] || 0)]);
  return [...parts, ['f-waiting', waiting / whole, 'waiting ' + time(waiting)], ['f-profiler', (row.overhead_s || 0) / whole, 'overhead ' + time(row.overhead_s || 0)]];
}

function processCharts(report, data) {
  const charts = [];
  if (report.process_list.length > 1) charts.push(figure('Processes over the run', 'parts of a bar are shares of the thread time, not moments', width => lanes(report.process_list.slice(0, 60).map(row =>
    ({name: row.process + ' ' + (row.role || ''), start: Math.max(0, row.start_s), length: row.lifetime_s, parts: laneParts(report, row)})), report.wall_s, width)));
  if (report.thread_list.length) charts.push(figure('Threads over the run', 'parts of a bar are shares of its time, not moments', width => lanes(report.thread_list.slice(0, 80).map((row, i) =>
    ({name: row.tid + ' ' + row.name, start: Math.max(0, data.threads[i] ? data.threads[i].start * 1e-9 : 0), length: data.threads[i] ? data.threads[i].lived * 1e-9 : row.lifetime_s,
      parts: laneParts(report, row)})), report.wall_s, width), keys(partsOf(report))));
  return charts;
}
