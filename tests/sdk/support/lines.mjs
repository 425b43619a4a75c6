// The lines of a server, without an SDK between.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { once } from 'node:events';

// How a legacy host begins.
export const handshake = [
  { id: 'open', method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bytes', version: '1' } } },
  { method: 'notifications/initialized' },
];

// The answers' lines by id. Requests go one after the other: a server may answer in any order.
export async function answers({ command, args, env }, requests) {
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const found = new Map();
  for (const request of requests) {
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

// Both sides are asked the same and answer with the same bytes.
export async function assertSameLines(direct, throughCell, requests) {
  const expected = await answers(direct, requests);
  const actual = await answers(throughCell, requests);
  assert.equal(actual.size, expected.size);
  for (const [id, line] of expected) assert.equal(actual.get(id), line, `answer to ${id}`);
}

export const call = (id, name, args) => ({ id, method: 'tools/call', params: { name, arguments: args } });
