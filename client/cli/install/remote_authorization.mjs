// The server of the cell in which `cellblock auth` has a remote server authorized: it runs mcp-remote until that is connected.
// The browser is elsewhere, and no cell may listen for it: mcp-remote's own server listens to nothing, and what the browser came
// back with is handed to it within its process.
// What this answers is untrusted: the remote server says where people are sent.

import { spawn } from 'node:child_process';
import net from 'node:net';
import readline from 'node:readline';
import { Duplex } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';

const mostOutput = 16 * 1024;
const waitsForPerson = ['--auth-timeout', '900'];
const asChild = '--mcp-remote';
const isChild = process.argv[2] === asChild;

// ---- mcp-remote, in a process of its own ----

function request(server, target) {
  let answer = '';
  const connection = new Duplex({
    read() {},
    write(bytes, encoding, done) {
      answer += bytes;
      done();
    },
    final(done) {
      process.send({ answer });
      done();
    },
  });
  server.emit('connection', connection);
  connection.push(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
}

function listenToParent() {
  let last;
  net.Server.prototype.listen = function listen(port) {
    last = this;
    this.address = () => ({ address: '127.0.0.1', family: 'IPv4', port });
    setImmediate(() => this.emit('listening'));
    return this;
  };
  process.on('message', ({ target }) => request(last, target));
}

async function becomeRemote([script, ...words]) {
  listenToParent();
  process.argv.splice(1, process.argv.length, script, ...words);
  await import(pathToFileURL(script).href);
}

if (isChild) await becomeRemote(process.argv.slice(3));

// ---- the server ----

const text = { type: 'string' };
const tools = [
  { name: 'begin', inputSchema: { type: 'object', properties: {} } },
  { name: 'finish', inputSchema: { type: 'object', properties: { callback: text }, required: ['callback'] } },
];

let child;
let output = '';
let asked = ''; // the address to which a person is sent
let answered; // what mcp-remote told the browser
let wake = () => {};
let ended = false;

function start(words) {
  child = spawn(process.execPath, [fileURLToPath(import.meta.url), asChild, ...words, ...waitsForPerson],
                { stdio: ['pipe', 'ignore', 'pipe', 'ipc'] });
  child.stderr.on('data', (bytes) => {
    output = (output + bytes).slice(-mostOutput);
    asked ||= /Please authorize this client by visiting:\s+(\S+)\s/.exec(output)?.[1] ?? '';
    wake();
  });
  child.on('message', ({ answer }) => {
    answered = answer;
    wake();
  });
  child.on('close', () => {
    ended = true;
    wake();
  });
}

const isConnected = () => /Proxy established successfully/.test(output);

async function until(holds) {
  while (!holds()) await new Promise((resolve) => { wake = resolve; });
}

function page(url) {
  const address = new URL(new URL(url).searchParams.get('redirect_uri') ?? 'http://none/');
  return { url, port: Number(address.port || 0), path: address.pathname };
}

async function begin() {
  await until(() => asked || isConnected() || ended);
  if (asked) return { output: JSON.stringify(page(asked)), failed: false };
  return { output: isConnected() ? '{}' : output, failed: !isConnected() };
}

async function finish({ callback }) {
  output = '';
  child.send({ target: callback });
  await until(() => answered !== undefined || ended);
  if (!/^HTTP\/1\.1 [23]/.test(answered ?? '')) return { output: (answered ?? output).split('\r\n\r\n').pop(), failed: true };
  await until(() => isConnected() || ended);
  return { output: isConnected() ? '' : output, failed: !isConnected() };
}

const run = { begin, finish };
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

async function answer({ id, method, params }) {
  if (method === 'initialize') {
    const serverInfo = { name: 'authorization', version: '1' };
    return send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  }
  if (method === 'tools/list') return send({ id, result: { tools } });
  if (method !== 'tools/call') return send({ id, error: { code: -32601, message: 'Method not found' } });
  const { output: said, failed } = await run[params.name](params.arguments ?? {});
  return send({ id, result: { content: [{ type: 'text', text: said }], isError: failed } });
}

if (!isChild) {
  start(process.argv.slice(2));
  readline.createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line);
    if ('id' in message) answer(message);
  });
}
