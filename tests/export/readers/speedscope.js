// SPDX-License-Identifier: MIT
// Opens a file in the speedscope application, in a real Chromium, and prints the tables of its
// sandwich view: node speedscope.js PLAN.json
// PLAN: {modules, speedscope, chromium, shot, profiles, files: {name: path}}. Answer: {files: {name:
// [[[total, self, function], …] of each of the first `profiles`]}, errors: […]}, times as shown.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const {pathToFileURL} = require('url');

const plan = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const {chromium} = require(path.join(plan.modules, 'playwright-core'));
const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--use-gl=angle',
  '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];

// A page of a file may run a script of another one, but not read it: so speedscope's own command
// hands a profile over.
function hand(directory, name, file) {
  const script = path.join(directory, name + '.js');
  const text = fs.readFileSync(file).toString('base64');
  fs.writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(name)}, "${text}")`);
  return script;
}

// Rows of the table that is shown: two bars with times, and a name.
function table() {
  return [...document.querySelectorAll('table tr')]
    .map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent))
    .filter(row => row.length === 3 && row[0].includes('('));
}

async function look(page, directory, name, file) {
  const script = hand(directory, name, file);
  const index = pathToFileURL(path.join(plan.speedscope, 'dist', 'release', 'index.html'));
  await page.goto('about:blank');
  await page.goto(`${index}#localProfilePath=${script}`, {waitUntil: 'commit', timeout: 120000});
  await page.waitForFunction(() => /Sandwich/.test(document.body.textContent), null, {timeout: 120000});
  if (plan.shot)
    await page.screenshot({path: plan.shot, clip: {x: 0, y: 0, width: 1200, height: 420}});
  const tables = [];
  await page.keyboard.press('3');
  for (let i = 0; i < plan.profiles; i++) {
    await page.waitForTimeout(500);
    tables.push(await page.evaluate(table));
    await page.keyboard.press('n');
  }
  return tables;
}

async function main() {
  const browser = await chromium.launch({executablePath: plan.chromium, args: ARGUMENTS});
  const page = await browser.newPage({viewport: {width: 1200, height: plan.shot ? 420 : 8000}});
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'battprof-speedscope-'));
  const answer = {errors: [], files: {}};
  page.on('pageerror', error => answer.errors.push(error.stack));
  page.on('dialog', dialog => { answer.errors.push(dialog.message()); dialog.dismiss(); });
  for (const [name, file] of Object.entries(plan.files))
    answer.files[name] = await look(page, directory, name, file);
  await browser.close();
  fs.rmSync(directory, {recursive: true});
  fs.writeSync(1, JSON.stringify(answer));
}

main();
