// SPDX-License-Identifier: MIT
// What every part of the script uses: elements, texts and numbers as the text report writes them.
// Nothing is ever put into the page as markup: el() makes text nodes of all that comes from a profile.
'use strict';

function el(tag, attributes, ...children) {
  const svg = /^(svg|g|rect|path|line|circle|text|defs|pattern)$/.test(tag);
  const to = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith('on')) to.addEventListener(key.slice(2), value);
    else if (value === true) to.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) to.setAttribute(key, value);
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false)
      to.append(child instanceof Node ? child : shown(String(child), 400));
  return to;
}

// Characters that nobody sees or that turn a line around are named, as the tables of the page do.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;
function shown(text, most) {
  const cut = text.length > most ? text.slice(0, most) + '…' : text;
  return cut.replace(HIDDEN, c => '⟨U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0') + '⟩');
}

const UNITS = [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']];
function time(s) {
  if (s === null || s === undefined) return '';
  if (s < 0) return '−' + time(-s);
  if (!(s >= 0.5e-9)) return '0';
  let i = 0;
  while (i < 3 && s < 0.9995 * UNITS[i][0]) i++;
  const value = s / UNITS[i][0];
  return value.toFixed(i === 3 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + ' ' + UNITS[i][1];
}
function count(n) {
  return n === null || n === undefined ? '' : String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',');
}
function bytes(n) {
  const names = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let i = 0;
  for (; n >= 999.5 && i < 5; i++) n /= 1000;
  return n.toFixed(i === 0 || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2) + ' ' + names[i];
}
function percent(part, whole) {
  return whole > 0 ? (100 * part / whole).toFixed(1) + ' %' : '';
}

const FORMAT = {
  name: value => value, word: value => value === true ? 'yes' : value === false ? '' : value,
  time, count, bytes: value => value === null ? '' : bytes(value),
  percent: value => value === null ? '' : value.toFixed(1) + ' %',
  rate: value => value === null ? '' : String(+value.toPrecision(4)),
  factor: value => value > 100 ? '> 100' : String(+value.toPrecision(3)),
  change: value => value === null ? '' : (value > 0 ? '+' : '') + time(value),
};
function format(unit, value) {
  return value === undefined || value === null ? '' : String(FORMAT[unit](value));
}
function find(root, path) {
  return path.split('.').reduce((at, key) => at === null || at === undefined ? at : at[key], root);
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}

// Names the present frame, or what was done, to a screen reader.
let speaker;
function say(text) {
  speaker.textContent = shown(text, 300);
}

function matcher(text) {
  if (!text) return null;
  try {
    return new RegExp(text, 'i');
  } catch (error) {
    return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
  }
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch (error) {
    // A sandboxed frame has no clipboard of its own.
    const area = el('textarea', {class: 'hide', 'aria-hidden': 'true'});
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  say('copied');
}
