// A host program of its own, since tests run as root and hosts as nobody special: it makes clients of the official SDKs
// over CellblockTransport, and runs what a test tells it line by line.
//
//     node host_driver.mjs CLIENT_PACKAGE MODULES_DIRECTORY

import { createRequire } from 'node:module';
import * as path from 'node:path';
import { createInterface } from 'node:readline';

const [packageDirectory, modules] = process.argv.slice(2);
const { CellblockTransport } = await import(path.join(packageDirectory, 'index.js'));
const require = createRequire(path.join(modules, 'x.js'));
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const types = require('@modelcontextprotocol/sdk/types.js');

const { Client: ClientOfV2 } = require('@modelcontextprotocol/client');

const host = { Client, ClientOfV2, CellblockTransport, types, memory: {} };

for await (const line of createInterface({ input: process.stdin })) {
  const { id, source, args } = JSON.parse(line);
  // eslint-disable-next-line no-new-func
  const run = new Function(`return ${source}`)();
  Promise.resolve().then(() => run(host, ...args)).then(
    (value) => ({ id, value }),
    (error) => ({ id, error: { message: error.message, code: error.code, failure: error.failure, data: error.data } }),
  ).then((answer) => console.log(JSON.stringify(answer)));
}
process.exit(0);
