// SPDX-License-Identifier: MIT
// Shapes of which the pictures of tasks, transfers, devices and processes are made. A picture is as
// wide as the room it has, so that its texts are as large as all others, on a telephone, too. The
// table with its numbers is in the same view: to a screen reader it is one image with a sentence.

function picture(width, height, label, ...children) {
  return el('svg', {viewBox: '0 0 ' + width + ' ' + height, width, height, role: 'img', 'aria-label': shown(label, 300)}, children);
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
function line(x1, x2, y1, y2, cls) {
  return el('line', {x1, x2, y1, y2, class: cls || 'axis'});
}

// What each fill is: [[class, text]].
function keys(list) {
  return el('div', {class: 'legend'}, list.map(([kind, text]) => el('span', {class: 'chip'}, el('i', {class: 'c-' + kind}), text)));
}

// Drawn again whenever its room changes: draw(width) makes the picture.
function figure(title, about, draw, legend) {
  const room = el('div'), box = el('figure', {}, el('figcaption', {}, el('b', {}, title), about && el('span', {}, about)), room, legend);
  let last = 0;
  new ResizeObserver(() => {
    const width = Math.floor(room.clientWidth);
    if (width > 0 && width !== last) room.replaceChildren(draw(last = width));
  }).observe(room);
  return box;
}

// Fills with the pattern of their category, for every picture of the page.
function fills() {
  const stripes = {framework: 'M4 0V8', transfer: 'M-1 9L9 -1M-1 1L1 -1M7 9L9 7', profiler: 'M0 2H8M0 6H8', waiting: 'M1 2h1.5M5 6h1.5'};
  return el('svg', {class: 'hide', 'aria-hidden': 'true', width: 8, height: 8}, el('defs', {}, Object.entries(stripes).map(([kind, d]) =>
    el('pattern', {id: 'p-' + kind, width: 8, height: 8, patternUnits: 'userSpaceOnUse'}, el('rect', {width: 8, height: 8, style: 'fill:var(--' + kind + ')'}),
      el('path', {d, class: 's-pattern'})))));
}

// Columns side by side: [{label, value, text}]. The number stands above where there is room for it.
function columns(bars, {width = 460, height = 150, log = false, cls = 'f-dsl'} = {}) {
  const most = Math.max(...bars.map(bar => bar.value), 1), step = Math.min(64, width / bars.length);
  const tall = value => value <= 0 ? 0 : Math.max(1, (height - 34) * (log ? Math.log1p(value) / Math.log1p(most) : value / most));
  const every = Math.max(1, Math.ceil(56 / step)), floor = height - 18;
  return picture(width, height, bars.filter(bar => bar.value > 0).map(bar => bar.text).join('; '), bars.map((bar, i) => [
    hint(el('rect', {x: i * step + 1, y: floor - tall(bar.value), width: Math.max(1, step - 2), height: tall(bar.value), class: bar.cls || cls, rx: 1.5}), bar.text),
    bar.value > 0 && count(bar.value).length * 6.5 < step && label((i + 0.5) * step, floor - tall(bar.value) - 4, count(bar.value), 'middle'),
    i % every === 0 && (i + 1) * step + 30 < width + step && label(i * step + 1, height - 4, bar.label),
  ]), line(0, width, floor + 0.5, floor + 0.5));
}

// 1, 10, 100 … between two values, for an axis of logarithms.
function decades(least, most) {
  const found = [];
  for (let power = Math.ceil(Math.log10(least)); power <= Math.log10(most) + 1e-9; power++) found.push(10 ** power);
  return found;
}

// Names above the points they belong to, the largest first; what would stand on another name is left out.
function nameTags(points, place, width, most) {
  const rows = Array.from({length: most}, () => []), tags = [];
  for (const point of [...points].sort((a, b) => b.value - a.value).slice(0, 12)) {
    const long = 7 * Math.min(point.name.length, 24), x = place(point.value), from = Math.min(Math.max(0, x - long / 2), width - long);
    const row = rows.findIndex(taken => taken.every(([a, b]) => from > b + 6 || from + long < a - 6));
    if (row < 0) continue;
    rows[row].push([from, from + long]);
    tags.push([point, x, line(x, x, 12 * row + 14, point.y - 4, 'lead'), label(from + long / 2, 12 * row + 11, shown(point.name, 24), 'middle', 'name')]);
  }
  return tags.map(tag => tag.slice(2));
}

// A point per task on one line of logarithms; those far away have their names.
function strip(points, width = 460, height = 146) {
  const values = points.map(point => point.value).sort((a, b) => a - b), most = Math.max(values[values.length - 1], 1e-9);
  const least = Math.min(Math.max(values[0], most * 1e-4), most / 2), floor = height - 17, middle = values[Math.floor(values.length / 2)];
  const place = value => 8 + (width - 24) * Math.log(Math.max(value, least) / least) / Math.log(most / least);
  const far = points.filter(point => point.far), names = Math.min(height < 120 ? 2 : 4, far.length), top = 12 * names + 12;
  points.forEach((point, i) => { point.y = top + (i * 7919 % 97) / 97 * Math.max(4, floor - top - 8); });
  const ticks = decades(least, most);
  return picture(width, height, count(points.length) + ' tasks from ' + time(values[0]) + ' to ' + time(most) + ', median ' + time(middle) +
    (far.length ? '; far from the others: ' + far.slice(0, 4).map(point => point.name).join(', ') : ''),
    line(0, width, floor, floor), ticks.map(value => [line(place(value), place(value), floor, floor + 4), label(place(value), height - 2, time(value).replace(/\.0+ /, ' '), place(value) > width - 24 ? 'end' : 'middle')]),
    line(place(middle), place(middle), top - 6, floor, 'middle'), nameTags(far, place, width, names),
    points.slice(0, 2000).map(point => hint(el('circle', {cx: place(point.value), cy: point.y, r: point.far ? 3.5 : 2.5,
      class: point.far ? 'f-mark' : 'f-point'}), point.name + ': ' + time(point.value))));
}

// Rows of parts: [{name, parts: [[class, value, text]], said}], all to one scale.
function rows(list, {width = 460, right = 74} = {}) {
  const sum = row => row.parts.reduce((all, part) => all + part[1], 0), left = Math.min(170, 0.38 * width), letters = Math.floor(left / 7.2);
  const most = Math.max(...list.map(sum), 1e-12), scale = (width - left - right) / most;
  return picture(width, 22 * list.length + 2, list.map(row => row.name + ' ' + row.parts.map(part => part[2]).join(', ')).join('; '), list.map((row, i) => {
    let x = left;
    return [label(left - 6, 22 * i + 15, shown(row.name, letters), 'end', 'name'), row.parts.filter(part => part[1] > 0).map(([cls, value, text]) => {
      const shape = hint(el('rect', {x, y: 22 * i + 3, width: Math.max(0.5, value * scale), height: 16, class: cls}), row.name + ': ' + text);
      x += value * scale;
      return shape;
    }), label(x + 5, 22 * i + 15, row.said || time(sum(row)))];
  }));
}

// Who lived when: [{name, start, length, parts}].
function lanes(list, wall, width) {
  const left = Math.min(170, 0.34 * width), scale = (width - left - 4) / (wall || 1), floor = 18 * list.length + 4;
  return picture(width, floor + 18, list.length + ' lanes over ' + time(wall), [0, 0.25, 0.5, 0.75, 1].map(part => [line(left + part * wall * scale, left + part * wall * scale, 0, floor),
    (width > 500 || part % 0.5 === 0) && label(left + part * wall * scale, floor + 14, time(part * wall), part === 1 ? 'end' : part ? 'middle' : 'start')]), list.map((lane, i) => {
    let x = left + lane.start * scale;
    return [label(left - 6, 18 * i + 12, shown(lane.name, Math.floor(left / 7.2)), 'end', 'name'), lane.parts.filter(part => part[1] > 0).map(([cls, share, text]) => {
      const shape = hint(el('rect', {x, y: 18 * i + 2, width: Math.max(0.6, lane.length * share * scale), height: 13, class: cls}), lane.name + ': ' + text);
      x += lane.length * share * scale;
      return shape;
    })];
  }));
}

// [[tasks, wall, low, high]]: a line with its interval. The last point has its words beside it.
function projection(points, width) {
  const height = 170, left = 62, last = points[points.length - 1], most = Math.max(...points.map(point => point[3]));
  const x = n => left + (width - left - 10) * n / last[0], y = s => height - 20 - (height - 36) * s / most;
  const path = key => points.map(point => x(point[0]).toFixed(1) + ',' + y(point[key]).toFixed(1));
  const words = point => count(point[0]) + ' tasks: ' + time(point[1]) + ' (' + time(point[2]) + ' to ' + time(point[3]) + ')';
  return picture(width, height, points.map(words).join('; '), [0, 0.5, 1].map(part => [line(left, width, y(part * most), y(part * most)), label(left - 6, y(part * most) + 4, time(part * most), 'end')]),
    el('path', {d: 'M' + path(3).join('L') + 'L' + path(2).reverse().join('L') + 'Z', class: 'f-band'}), el('path', {d: 'M' + path(1).join('L'), class: 's-line'}),
    points.map((point, i) => [hint(el('circle', {cx: x(point[0]), cy: y(point[1]), r: 3.5, class: 'f-mark'}), words(point)),
      label(x(point[0]), height - 4, count(point[0]), i === points.length - 1 ? 'end' : 'middle')]), label(left + 4, 11, words(last), 'start', 'name'));
}
