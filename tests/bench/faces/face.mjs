// face.mjs SERVER CLIENT_PACKAGE MODULES: rounds of calls by the official SDK's Client through CellblockTransport, for
// cellblock-bench (round.h).

import { createRequire } from 'node:module';
import * as path from 'node:path';
import { createInterface } from 'node:readline';

const [server, client, modules] = process.argv.slice(2);
const { CellblockTransport } = await import(path.join(client, 'index.js'));
const { Client } = createRequire(path.join(modules, 'x.js'))('@modelcontextprotocol/sdk/client/index.js');
const now = () => Number(process.hrtime.bigint());

async function run(host, inFlight, calls) {
  let left = calls;
  const latencies = [];
  const began = now();
  await Promise.all(Array.from({ length: inFlight }, async () => {
    while (left > 0) {
      left -= 1;
      const begun = now();
      const { content: [{ text }] } = await host.callTool({ name: 'echo', arguments: { text: 'hello, world' } });
      latencies.push(now() - begun);
      if (!text.includes('hello, world')) throw new Error('a wrong answer');
    }
  }));
  return [now() - began, ...latencies];
}

const host = new Client({ name: 'bench', version: '1' });
await host.connect(new CellblockTransport({ server }));
for await (const line of createInterface({ input: process.stdin })) {
  console.log((await run(host, ...line.split(' ').map(Number))).join(' '));
}
process.exit(0);
