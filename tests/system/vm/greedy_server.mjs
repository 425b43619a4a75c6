// A server of tools that take what their cell may not have. MCP 2025-11-25 by hand: no package is needed.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const taken = [];

const tools = {
  pid: () => `pid ${process.pid}`,
  take_memory: ({ mebibytes }) => {
    for (let n = 0; n < mebibytes; n++) taken.push(Buffer.alloc(1 << 20, 1));
    return `took ${mebibytes} MiB`;
  },
  // Each copy starts others, for as long as that is let; one that may not ends, and makes room for another.
  start_a_fork_bomb: () => {
    spawn('/bin/sh', ['-c', 'bomb() { while :; do bomb & done; }; bomb'], { stdio: 'ignore' });
    return 'started';
  },
  use_the_processor: ({ seconds }) => {
    const end = Date.now() + seconds * 1000;
    while (Date.now() < end);
    return 'done';
  },
};

const answers = {
  initialize: () => ({
    protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'greedy', version: '1' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) }),
  'tools/call': ({ name, arguments: given }) => ({ content: [{ type: 'text', text: tools[name](given ?? {}) }] }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const outcome = answer ? { result: answer(params) } : { error: { code: -32601, message: 'no such method' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`);
});
