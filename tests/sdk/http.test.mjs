// The official HTTP clients reach a server in a cell: over TCP with a token, and over the Unix socket.

import assert from 'node:assert/strict';
import http from 'node:http';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import * as path from 'node:path';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';

import { firstProgress, sdks } from './support/clients.mjs';
import { Daemon, fixtures, hostId } from './support/daemon.mjs';

const require = createRequire(path.join(fixtures, 'package.json'));
const v1 = {
  ...require('@modelcontextprotocol/sdk/client/index.js'),
  ...require('@modelcontextprotocol/sdk/client/streamableHttp.js'),
};
const v2 = require('@modelcontextprotocol/client');

const identity = { name: 'cellblock-test-host', version: '1.0.0' };
const daemon = new Daemon();
let port;
let token;

before(async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address());
  server.close();
  await once(server, 'close');
  daemon.declare('everything', '@modelcontextprotocol/server-everything', ['stdio']);
  token = daemon.listenOnHttp(port, path.join(daemon.directory, 'run', 'http.sock'));
  await daemon.start();
});
after(() => daemon.stop());

// The kernel takes a host's identity when it connects, which is before this returns.
function asHost(connect) {
  if (process.getuid() !== 0) return connect();
  process.setegid(hostId);
  process.seteuid(hostId);
  try {
    return connect();
  } finally {
    process.seteuid(0);
    process.setegid(0);
  }
}

// fetch() over a Unix socket.
function fetchOver(socketPath) {
  return async (url, init = {}) => {
    const { pathname, search } = new URL(url);
    const headers = Object.fromEntries(new Headers(init.headers));
    const request = asHost(() => http.request({
      socketPath, path: pathname + search, method: init.method, headers, signal: init.signal,
    }));
    request.end(init.body);
    const [answer] = await once(request, 'response');
    const bodiless = answer.statusCode === 204 || answer.statusCode === 202;
    if (bodiless) answer.resume();
    return new Response(bodiless ? null : Readable.toWeb(answer), { status: answer.statusCode, headers: answer.headers });
  };
}

const ways = [
  ['over TCP', () => [new URL(`http://127.0.0.1:${port}/mcp/everything`),
                      { requestInit: { headers: { Authorization: `Bearer ${token}` } } }]],
  ['over the Unix socket', () => [new URL('http://localhost/mcp/everything'),
                                  { fetch: fetchOver(path.join(daemon.directory, 'run', 'http.sock')) }]],
];

for (const [sdk, { Client, StreamableHTTPClientTransport }] of [['SDK v1', v1], ['SDK v2', v2]]) {
  for (const [way, parameters] of ways) {
    describe(`${sdk} ${way}`, () => {
      let client;
      before(async () => {
        client = new Client(identity, { capabilities: {} });
        await client.connect(new StreamableHTTPClientTransport(...parameters()));
      });
      after(() => client.close());

      test('lists tools', async () => {
        const { tools } = await client.listTools();
        assert.ok(tools.some(({ name }) => name === 'echo'));
      });

      test('calls a tool', async () => {
        const { content } = await client.callTool({ name: 'echo', arguments: { message: 'hello' } });
        assert.match(content[0].text, /hello/);
      });

      test('hears progress', async () => {
        const { callTool } = sdks.find(({ name }) => name === sdk);
        const call = (name, args, options) => callTool(client, { name, arguments: args }, options);
        const heard = await firstProgress(call, 2, 'trigger-long-running-operation', { duration: 60, steps: 600 });
        assert.deepEqual(heard.map(({ progress }) => progress), [1, 2]);
      });
    });
  }
}

test('a client with another token is turned away', async () => {
  const client = new v1.Client(identity, { capabilities: {} });
  const requestInit = { headers: { Authorization: `Bearer ${'x'.repeat(64)}` } };
  const transport = new v1.StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp/everything`), { requestInit });
  await assert.rejects(client.connect(transport));
});
