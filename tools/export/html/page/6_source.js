// SPDX-License-Identifier: MIT
// Source lines with their times, file by file: of all functions together, where the text could be
// read when the page was written.

const MOST_FILES = 12;

// {file: {line: {self, total, names}}}. Self times are parts of the whole; of totals, which functions
// that call each other share, the largest counts.
function linesByFile(report) {
  const files = new Map();
  for (const fn of [...report.functions, ...report.sampled])
    for (const from of fn.lines) {
      if (!files.has(from.file)) files.set(from.file, new Map());
      const lines = files.get(from.file), line = lines.get(from.line) || {self: 0, total: 0, names: []};
      line.self += from.self_s;
      line.total = Math.max(line.total, from.total_s);
      line.names.push(fn.name);
      lines.set(from.line, line);
    }
  return files;
}

function sumOf(lines) {
  return [...lines.values()].reduce((sum, line) => sum + line.self, 0);
}

// Files that have text, those with most time first.
function sourceFiles(report, data) {
  return [...linesByFile(report)].filter(([file]) => data.sources[file]).map(([file, lines]) => ({file, lines, sum: sumOf(lines)}))
    .filter(one => one.sum > 0).sort((a, b) => b.sum - a.sum).slice(0, MOST_FILES);
}

// A line with its number, as hot as its part of the hottest; dashes stand where lines are left out.
function sourceLine(numbers, i, heat, title, ...cells) {
  const hot = heat > 0.02, gap = i && numbers[i] > numbers[i - 1] + 1;
  return el('div', {class: (gap ? 'gap ' : '') + (hot ? 'hot' : ''), title, style: hot ? 'background:rgba(var(--heat),' + (0.6 * heat).toFixed(2) + ')' : null},
    el('span', {}, numbers[i]), cells);
}

function sourceLines({file, lines}, texts, most) {
  const numbers = [...new Set([...lines.keys(), ...Object.keys(texts).map(Number)])].sort((a, b) => a - b);
  return el('div', {class: 'source', tabindex: 0, role: 'group', 'aria-label': 'Lines of ' + file}, numbers.map((number, i) => {
    const line = lines.get(number), names = line ? [...new Set(line.names)].slice(0, 6).join(', ') : null;
    return sourceLine(numbers, i, line ? line.self / most : 0, names, el('b', {}, line && line.self > 0 ? time(line.self) : ''),
      el('b', {class: 'total'}, line && line.total > 0 ? time(line.total) : ''), texts[number] || '');
  }));
}

// The view: null where no text could be read.
function sourceSection(report, data) {
  const files = sourceFiles(report, data);
  if (!files.length) return null;
  const most = Math.max(...files.flatMap(({lines}) => [...lines.values()].map(line => line.self)), 1e-12);
  return el('section', {id: 'source', 'data-view': 'Source'}, el('h2', {}, 'Source'),
    el('p', {class: 'about'}, 'Thread time of lines, by stack samples: their own, then with all that they called. Around them is what could be read when this page was written.'),
    files.map(one => [el('h3', {}, one.file), el('p', {class: 'about'}, time(one.sum) + ' in ' + count(one.lines.size) + (one.lines.size === 1 ? ' line' : ' lines')),
      sourceLines(one, data.sources[one.file], most)]));
}
