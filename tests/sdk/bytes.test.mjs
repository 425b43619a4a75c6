// The lines themselves, without an SDK between: what comes through a cell is what the server wrote,
// byte for byte.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { once } from 'node:events';
import { after, before, test } from 'node:test';

import { Daemon } from './support/daemon.mjs';

const daemon = new Daemon();
const project = daemon.makeProject('project');

before(async () => {
  fs.writeFileSync(path.join(project, 'large.txt'), 'line with "quotes" and ünïcode\n'.repeat(30_000));
  daemon.declare('everything', '@modelcontextprotocol/server-everything', []);
  daemon.declare('files', '@modelcontextprotocol/server-filesystem', [project],
                 [`read = ["${daemon.directory}/mcp", "${project}"]`]);
  await daemon.start();
});
after(() => daemon.stop());

const opening = [
  { id: 'open', method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bytes', version: '1' } } },
  { method: 'notifications/initialized' },
];

// The answers' lines by id. Requests go one after the other: a server may answer in any order.
async function answers({ command, args, env }, requests) {
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const found = new Map();
  for (const request of [...opening, ...requests]) {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...request })}\n`);
    while (request.id !== undefined && !found.has(request.id)) {
      const { value: line, done } = await lines.next();
      assert.ok(!done, `the server ended before it answered ${request.id}`);
      const message = JSON.parse(line);
      if (message.id !== undefined && message.method === undefined) found.set(message.id, line);
    }
  }
  child.stdin.end();
  await once(child, 'close');
  return found;
}

async function assertSameLines(server, requests) {
  const direct = await answers(daemon.direct(server), requests);
  const celled = await answers(daemon.throughCell(server), requests);
  assert.equal(celled.size, requests.length + 1);
  for (const [id, line] of direct) assert.equal(celled.get(id), line, `answer to ${id}`);
}

const call = (id, name, args) => ({ id, method: 'tools/call', params: { name, arguments: args } });

test('server-everything answers with the same bytes', () => assertSameLines('everything', [
  { id: 1, method: 'tools/list' },
  { id: 'two', method: 'resources/list' },
  { id: -3, method: 'prompts/list' },
  call('"4"', 'echo', { message: '\u0000\u001f "\\ ü 🚀' }),
  call(5, 'get-tiny-image', {}),
  call(6, 'get-structured-content', { location: 'New York' }),
  call(7, 'no-such-tool', {}),
  { id: 8, method: 'no/such/method' },
  { id: 9, method: 'prompts/get', params: { name: 'simple-prompt' } },
]));

test('server-filesystem answers with the same bytes', () => assertSameLines('files', [
  { id: 1, method: 'tools/list' },
  call(2, 'list_directory', { path: project }),
  call(3, 'read_text_file', { path: path.join(project, 'large.txt') }),
  call(4, 'read_text_file', { path: path.join(project, 'nothing') }),
  call(5, 'read_text_file', { path: '/etc/passwd' }),
]));
