// SPDX-License-Identifier: MIT
// What the page does when it is used, as facts for test_browser.py to judge. Runs inside of the page.
'use strict';

const all = (selector, root) => [...(root || document).querySelectorAll(selector)];
const one = (selector, root) => (root || document).querySelector(selector);
const button = text => all('#graph button').find(item => item.textContent === text);
const sum = () => +one('.split').dataset.sum;
const said = () => one('[aria-live]').textContent;

function type(input, text) {
  input.value = text;
  input.dispatchEvent(new Event('input'));
}

// A search, Enter twice and back; something that is no regular expression is text.
function searching() {
  const input = one('.tools input[type=search]'), found = () => one('.tools .said').textContent;
  const enter = shiftKey => {
    input.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', shiftKey}));
    return said();
  };
  type(input, '.');
  const every = found();
  type(input, '^(merge|objects)$');
  const steps = [found(), enter(), enter(), enter(true)];
  const place = found();
  type(input, '(unclosed');
  const broken = found();
  type(input, '');
  return {every, steps, place, broken};
}

// Sums of the graph as it is, inverted, without waiting, of each thread and of a task.
function graphs() {
  const result = {plain: sum()}, select = one('#graph select');
  const pressed = (text, key) => {
    button(text).click();
    result[key] = sum();
    button(text).click();
  };
  pressed('invert', 'inverted');
  one('[data-measure=thread]').click();
  result.thread = sum();
  pressed('hide waiting', 'busy');
  const scoped = label => all('optgroup[label=' + label + '] option', select).map(option => {
    select.value = option.value;
    select.dispatchEvent(new Event('change'));
    return sum();
  });
  result.threads = scoped('thread');
  result.tasks = scoped('task');
  button('reset').click();
  one('[data-measure=wall]').click();
  result.again = sum();
  const crumbs = () => all('.crumbs button').map(crumb => crumb.textContent).join(' ');
  const canvas = all('.flame canvas').find(item => !item.hidden);
  for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) canvas.dispatchEvent(new KeyboardEvent('keydown', {key}));
  result.zoomed = [crumbs()];
  for (const measure of ['thread', 'wall']) {
    one('[data-measure=' + measure + ']').click();
    result.zoomed.push(crumbs());
  }
  button('reset').click();
  result.unzoomed = crumbs();
  return result;
}

// A row leads to its frame and the function's panel; from there to the sandwich and back.
function panel() {
  one('#tab-functions').click();
  const link = all('[data-list=functions] .link').find(item => item.textContent === 'merge');
  link.click();
  const box = one('.panel'), heads = all('h4', box).map(head => head.textContent.replace(/[:;].*/, ''));
  const result = {view: one('[role=tab][aria-selected=true]').textContent, name: one('h3', box).textContent, heads,
    source: all('.source div', box).length, hot: all('.source div[style]', box).length, crumbs: all('.crumbs button').length};
  button('sandwich').click();
  result.sandwich = [one('.crumbs').textContent, all('.flame canvas').filter(canvas => !canvas.hidden).length];
  button('back to the whole graph').click();
  button('row in table').click();
  const row = one('#functions tr.here');
  result.row = [one('[role=tab][aria-selected=true]').textContent, row ? row.children[0].textContent : '', document.activeElement.textContent];
  button('close').click();
  return {...result, closed: box.hidden};
}

// A row of a task, and of a thread, leads to its graph; a task has one measure.
function links() {
  const follow = (tab, list) => {
    one('#tab-' + tab).click();
    const link = one('[data-list="' + list + '"] .link');
    link.click();
    return {view: one('[role=tab][aria-selected=true]').textContent, name: link.textContent, sum: sum(), scope: one('#graph select').selectedOptions[0].textContent,
      off: all('#graph .tools button').filter(item => item.disabled).map(item => item.textContent), pressed: all('#graph [data-measure][aria-pressed=true]').map(item => item.textContent)};
  };
  const result = {task: follow('tasks', 'tasks.list'), thread: follow('processes', 'thread_list')};
  button('reset').click();
  return result;
}

// Lines of the sources, with what they took.
function sources() {
  one('#tab-source').click();
  return {files: all('#source h3').map(head => head.textContent), hot: all('#source .hot').length, lines: all('#source .source div').length};
}

// Sorting by a column, twice; a filter; what is copied.
async function table() {
  one('#tab-functions').click();
  const box = one('[data-list=functions]'), head = all('th', box).find(th => th.dataset.key === 'calls');
  const begin = all('th[aria-sort]', box).map(th => th.dataset.key + ' ' + th.getAttribute('aria-sort'));
  const column = () => all('tbody tr', box).map(row => +row.children[all('th', box).indexOf(head)].textContent.replace(/,/g, ''));
  one('button', head).click();
  const falling = column(), first = head.getAttribute('aria-sort');
  one('button', head).click();
  const rising = column();
  type(one('input[type=search]', box), '^merge$');
  const rows = all('tbody tr', box).length, words = one('.said', box).textContent;
  const texts = [], clipboard = {writeText: async text => texts.push(text)};
  Object.defineProperty(navigator, 'clipboard', {value: clipboard, configurable: true});
  all('button', box).find(item => item.textContent === 'copy as TSV').click();
  await Promise.resolve();
  delete navigator.clipboard;
  type(one('input[type=search]', box), '');
  one('#tab-overview').click();
  return {begin, falling, rising, first, rows, words, copied: texts[0]};
}

// Pictures are as wide as their room, so their texts are as large as others.
async function pictures() {
  const found = [];
  for (const tab of all('[role=tab]')) {
    tab.click();
    await new Promise(done => setTimeout(done, 100));
    for (const svg of all('section.on figure svg'))
      found.push([one('b', svg.closest('figure')).textContent, svg.getBoundingClientRect().width / svg.viewBox.baseVal.width]);
  }
  one('#tab-overview').click();
  return found;
}

async function behave() {
  return {search: searching(), graphs: graphs(), panel: panel(), links: links(), sources: sources(), table: await table(), pictures: await pictures()};
}
