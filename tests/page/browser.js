// SPDX-License-Identifier: MIT
// Opens pages in a real Chromium and says what happened, as JSON: node browser.js PLAN.json
// PLAN: {modules, chromium, shots, pages: [{name, path, big, dark}]}. Facts are judged by test_browser.py.
'use strict';
const fs = require('fs');
const path = require('path');

const plan = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const {chromium} = require(path.join(plan.modules, 'playwright-core'));
const BEHAVE = fs.readFileSync(path.join(__dirname, 'behave.js'), 'utf8') + '; behave()';
const AXE = path.join(plan.modules, 'axe-core', 'axe.min.js');
const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];

// Console errors, violations of the policy and requests beyond the file itself.
function watch(page, seen) {
  page.on('console', message => message.type() === 'error' && seen.errors.push(message.text()));
  page.on('pageerror', error => seen.errors.push(error.stack));
  page.on('request', request => /^(file|about|data):/.test(request.url()) || seen.requests.push(request.url()));
}

async function ready(frame) {
  await frame.waitForFunction(() => document.documentElement.dataset.ready, null, {timeout: 60000});
}

// Sums that the graph shows for each switch, as the page itself has them.
function sums() {
  const all = {};
  for (const button of document.querySelectorAll('[data-measure]')) {
    button.click();
    all[button.dataset.measure] = +document.querySelector('.split').dataset.sum;
  }
  const wall = document.querySelector('[data-measure=wall]');
  if (wall) wall.click();
  return all;
}

// How long a graph of everything and a search take, the quickest of some: the page's own clock.
function speed() {
  const split = document.querySelector('.split'), input = document.querySelector('.tools input[type=search]');
  const draw = [], find = [], button = document.querySelector('[data-measure][aria-pressed=true]');
  for (let i = 0; i < 5; i++) {
    button.click();
    draw.push(+split.dataset.took);
    input.value = '[13]$';
    input.dispatchEvent(new Event('input'));
    find.push(+input.dataset.took);
    input.value = '';
    input.dispatchEvent(new Event('input'));
  }
  return {first: +document.documentElement.dataset.ready, draw: Math.min(...draw), find: Math.min(...find)};
}

// The keyboard: walks down and reads out, zooms, comes back.
async function walk(page) {
  const canvas = page.locator('canvas[tabindex]'), said = () => page.evaluate(() => document.querySelector('[aria-live]').textContent);
  await canvas.focus();
  const words = [await said()];
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp', 'Enter', 'Escape', 'Space']) {
    await page.keyboard.press(key);
    words.push(await said());
  }
  return words;
}

// Everything that can be pressed is pressed.
async function press(page) {
  await page.evaluate(() => {
    const tick = text => [...document.querySelectorAll('#graph button')].filter(button => button.textContent === text).forEach(button => button.click());
    for (const text of ['invert', 'hide waiting', 'as a table']) tick(text);
    for (const button of [...document.querySelectorAll('.fold')].slice(0, 5)) button.click();
    for (const text of ['as a table', 'hide waiting', 'invert', 'sandwich', 'reset', 'find in graph', 'close']) tick(text);
    const select = document.querySelector('#graph select');
    for (let i = 0; i < Math.min(select.options.length, 40); i++) {
      select.value = i;
      select.dispatchEvent(new Event('change'));
    }
    select.value = 0;
    select.dispatchEvent(new Event('change'));
    for (const button of document.querySelectorAll('th button, .table .link:first-child')) button.click();
  });
}

async function tables(page) {
  return page.evaluate(() => [...document.querySelectorAll('.table')].map(box => [box.dataset.list, box.querySelectorAll('tbody tr').length, box.querySelector('.said') ? box.querySelector('.said').textContent : '']));
}

async function axe(page) {
  await page.addScriptTag({path: AXE});
  const found = await page.evaluate(() => axe.run(document, {resultTypes: ['violations']}));
  return found.violations.map(item => item.id + ': ' + item.nodes.slice(0, 3).map(node => node.html.slice(0, 150) + ' ' + node.failureSummary.replace(/\s+/g, ' ').slice(0, 200)).join(' | '));
}

// The panel of a function, the graph as a table and the sandwich are looked at, too.
async function openPanel(page, one, scheme) {
  const found = [], click = text => page.evaluate(wanted => {
    const button = [...document.querySelectorAll('#graph button')].find(item => item.textContent === wanted);
    if (button) button.click();
  }, text);
  const check = async what => {
    if (plan.shots) await page.screenshot({path: path.join(plan.shots, [one.name, what, scheme].join('-') + '.png'), fullPage: true});
    found.push(...(await axe(page)).map(text => what + ' ' + text));
  };
  await click('as a table');
  await page.evaluate(() => { for (let i = 0; i < 4; i++) { const fold = [...document.querySelectorAll('.fold[aria-expanded=false]')].pop(); if (fold) fold.click(); } });
  await page.evaluate(() => { const link = [...document.querySelectorAll('.tree .link')][2]; if (link) link.click(); });
  await check('panel');
  await click('as a table');
  await click('sandwich');
  await check('sandwich');
  await click('back to the whole graph');
  await click('close');
  return found;
}

async function look(context, one, scheme, width) {
  const seen = {errors: [], requests: [], axe: []}, page = await context.newPage();
  watch(page, seen);
  await page.goto('file://' + one.path);
  await ready(page);
  const views = await page.evaluate(() => [...document.querySelectorAll('[role=tab]')].map(tab => tab.id));
  if (width === 1280 && scheme === 'light') {
    seen.speed = await page.evaluate(speed);
    seen.sums = await page.evaluate(sums);
    seen.walk = await walk(page);
    seen.legend = await page.evaluate(() => document.querySelector('.legend').textContent);
    seen.verdicts = await page.evaluate(() => [...document.querySelectorAll('.legend i')].map(i => i.className));
  }
  for (const view of views) {
    await page.click('#' + view);
    await page.waitForTimeout(50);
    if (plan.shots) await page.screenshot({path: path.join(plan.shots, [one.name, view.slice(4), scheme, width].join('-') + '.png'), fullPage: !one.big});
    if (!one.big && (width === 1280 || view === 'tab-overview')) seen.axe.push(...(await axe(page)).map(text => view + ' ' + text));
    seen.wide = Math.max(seen.wide || 0, await page.evaluate(() => document.documentElement.scrollWidth - innerWidth));
  }
  seen.tables = await tables(page);
  if (one.name === 'batt') seen.behaviour = await page.evaluate(BEHAVE);
  await page.click('#tab-overview');
  if (!one.big && width === 1280) seen.axe.push(...await openPanel(page, one, scheme));
  await press(page);
  seen.text = await page.evaluate(() => document.querySelectorAll('script[src], img, iframe, link').length);
  await page.close();
  return seen;
}

// As a notebook shows it: an opaque origin, scripts alone are allowed.
async function frame(context, one) {
  const seen = {errors: [], requests: []}, page = await context.newPage();
  watch(page, seen);
  await page.setContent('<iframe sandbox="allow-scripts" style="width:900px;height:600px"></iframe>');
  await page.evaluate(text => { document.querySelector('iframe').srcdoc = text; }, fs.readFileSync(one.path, 'utf8'));
  const inner = await (await page.waitForSelector('iframe')).contentFrame();
  await ready(inner);
  seen.sums = await inner.evaluate(sums);
  seen.origin = await inner.evaluate(() => self.origin);
  await page.close();
  return seen;
}

// Without scripts: what a reader sees.
async function plain(browser, one) {
  const context = await browser.newContext({javaScriptEnabled: false}), page = await context.newPage();
  await page.goto('file://' + one.path);
  const text = await page.innerText('body');
  await context.close();
  return text;
}

(async () => {
  const browser = await chromium.launch({executablePath: plan.chromium, args: ARGUMENTS});
  const result = {};
  for (const one of plan.pages) {
    result[one.name] = {looks: {}};
    for (const scheme of one.dark || (plan.shots && !one.big) ? ['light', 'dark'] : ['light'])
      for (const width of one.big ? [1280] : [1280, 400]) {
        const context = await browser.newContext({viewport: {width, height: 900}, colorScheme: scheme, bypassCSP: false});
        result[one.name].looks[scheme + width] = await look(context, one, scheme, width);
        await context.close();
      }
    const context = await browser.newContext();
    result[one.name].frame = await frame(context, one);
    await context.close();
    result[one.name].plain = await plain(browser, one);
  }
  await browser.close();
  fs.writeFileSync(plan.result, JSON.stringify(result));
})().catch(error => {
  console.error(error);
  process.exit(1);
});
