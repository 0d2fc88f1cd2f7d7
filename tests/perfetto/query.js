// Opens a trace in Perfetto's own engine (trace_processor.wasm, of the package that package.json names) and prints what
// SQL queries give:   node query.js FOLDER TRACE SQL...   ->   a JSON array of arrays of rows
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

// ---- The engine's messages: protocol buffers, of which a few fields are needed --------------------------

const APPEND = 1, FINALIZE = 2, QUERY = 3;

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}

function field(number, content) {
  if (typeof content === "number") return Buffer.concat([varint(number * 8), varint(content)]);
  return Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);
}

// [number, value] of every field of a message: a BigInt, or the bytes.
function* fields(bytes) {
  let at = 0;
  const number = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(number()), kind = tag & 7;
    if (kind === 0) yield [tag >> 3, number()];
    else {
      const length = kind === 2 ? Number(number()) : kind === 1 ? 8 : 4;
      at += length;
      yield [tag >> 3, bytes.subarray(at - length, at)];
    }
  }
}

const only = (bytes, wanted) => [...fields(bytes)].filter(([number]) => number === wanted).map(([, value]) => value);
const text = (bytes) => Buffer.from(bytes).toString("utf8");

function* packed(bytes) {
  for (let at = 0; at < bytes.length;) {
    let value = 0n, shift = 0n, byte;
    do {
      byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      shift += 7n;
    } while (byte > 127);
    yield Number(BigInt.asIntN(64, value));
  }
}

// The cells of a batch come sorted by their type.
function* cells(batch) {
  const strings = only(batch, 5).flatMap((all) => text(all).split("\0"));
  const integers = only(batch, 2).flatMap((all) => [...packed(all)]);
  const reals = only(batch, 3).flatMap((all) => Array.from({ length: all.length / 8 },
    (_, i) => Buffer.from(all).readDoubleLE(8 * i)));
  for (const all of only(batch, 1))
    for (const type of packed(all)) yield type === 2 ? integers.shift() : type === 3 ? reals.shift() :
      type === 4 ? strings.shift() : null;
}

// ---- The engine -------------------------------------------------------------------------------------------

async function start(folder) {
  const source = fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8")
    // the bundle is a browser's worker: have it hand out what it would talk to through a port
    .replace("const wasmBridge = new wasm_bridge.WasmBridge();", "const wasmBridge = self.bridge = new wasm_bridge.WasmBridge();");
  const self = { location: { pathname: "", href: "" } };
  const quiet = { log() {}, warn() {}, info() {}, debug() {}, error: console.error };
  vm.runInThisContext(`(function (self, require, process, __dirname, console) {${source}\n})`)(self, require, process, folder, quiet);
  const port = { answers: [], postMessage(data) { this.answers.push(Buffer.from(data)); } };
  self.bridge.initialize(port);
  await self.bridge.whenInitialized;
  return (type, args) => {
    port.answers = [];
    const message = Buffer.concat([field(2, type), args || Buffer.alloc(0)]);
    self.bridge.onMessage({ data: new Uint8Array(field(1, message)) });
    return only(Buffer.concat(port.answers), 1);
  };
}

function load(engine, file) {
  const trace = fs.readFileSync(file);
  for (let at = 0; at < trace.length; at += 1 << 20) {
    for (const answer of engine(APPEND, field(101, trace.subarray(at, at + (1 << 20)))))
      for (const result of only(answer, 201))
        for (const error of only(result, 2)) if (error.length) throw new Error(text(error));
  }
  engine(FINALIZE);
}

function query(engine, sql) {
  const results = engine(QUERY, field(103, field(1, Buffer.from(sql)))).flatMap((answer) => only(answer, 203));
  const errors = results.flatMap((result) => only(result, 2)).filter((error) => error.length);
  if (errors.length) throw new Error(`${sql}: ${text(errors[0])}`);
  const columns = results.flatMap((result) => only(result, 1)).map(text);
  const all = results.flatMap((result) => only(result, 3)).flatMap((batch) => [...cells(batch)]);
  return Array.from({ length: all.length / columns.length }, (_, i) =>
    Object.fromEntries(columns.map((name, k) => [name, all[i * columns.length + k]])));
}

async function main([folder, trace, ...queries]) {
  const file = path.resolve(trace);
  process.chdir(folder); // where the engine looks for its code
  const engine = await start(process.cwd());
  load(engine, file);
  process.stdout.write(JSON.stringify(queries.map((sql) => query(engine, sql))));
}

main(process.argv.slice(2)).then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
