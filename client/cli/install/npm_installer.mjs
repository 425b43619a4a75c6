// The server of the cell in which `cellblock add` installs a package of npm: it runs npm, and nothing else.
// What it answers is untrusted: the package's own code may have run here by then. npm_registry.mjs stands before it.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import readline from 'node:readline';

const tree = '/out/tree';
const mostOutput = 16 * 1024;
const inputSchema = { type: 'object', properties: { package: { type: 'string' } }, required: ['package'] };
const tools = [
  { name: 'install', inputSchema },
  { name: 'check', inputSchema },
  { name: 'run_scripts', inputSchema: { type: 'object', properties: {} } },
];

function npm(words) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [process.env.CELL_NPM, ...words], { cwd: tree, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (bytes) => { output = (output + bytes).slice(-mostOutput); };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (error) => resolve({ output: String(error), failed: true }));
    child.on('close', (code) => resolve({ output, failed: code !== 0 }));
  });
}

// A package.json of its own makes the directory npm's prefix, whatever is above it.
async function install(name) {
  fs.mkdirSync(tree, { recursive: true });
  fs.writeFileSync(`${tree}/package.json`, '{ "private": true }\n');
  const done = await npm(['install', '--ignore-scripts', '--save-exact', '--omit=dev', '--', name]);
  return done.failed ? done : check(name);
}

// Says what the registry says of the packages in the lock file.
async function check(name) {
  try {
    const report = await registryReport(fs.readFileSync(`${tree}/package-lock.json`, 'utf8'), name);
    fs.writeFileSync('/out/registry.json', JSON.stringify(report));
    return { output: '', failed: false };
  } catch (error) {
    return { output: `what the registry says of its packages could not be checked: ${error.message}`, failed: true };
  }
}

const run = {
  install: (args) => install(args.package),
  check: (args) => check(args.package),
  run_scripts: () => npm(['rebuild', '--foreground-scripts']),
};

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

async function answer({ id, method, params }) {
  if (method === 'initialize') {
    const serverInfo = { name: 'npm', version: '1' };
    return send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  }
  if (method === 'tools/list') return send({ id, result: { tools } });
  if (method !== 'tools/call') return send({ id, error: { code: -32601, message: 'Method not found' } });
  const { output, failed } = await run[params.name](params.arguments ?? {});
  return send({ id, result: { content: [{ type: 'text', text: output }], isError: failed } });
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if ('id' in message) answer(message);
});
