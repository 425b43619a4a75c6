// The block of docs/http.md, as it stands there, in a real nginx before a real daemon.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { connect as connectTcp } from 'node:net';
import * as path from 'node:path';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { firstProgress, sdks } from './support/clients.mjs';
import { Daemon, fixtures } from './support/daemon.mjs';
import { freePort } from './support/port.mjs';

const require = createRequire(path.join(fixtures, 'package.json'));
const v1 = {
  ...require('@modelcontextprotocol/sdk/client/index.js'),
  ...require('@modelcontextprotocol/sdk/client/streamableHttp.js'),
};
const v2 = require('@modelcontextprotocol/client');

const nginx = process.env.CELLBLOCK_TEST_NGINX ?? '/usr/sbin/nginx';
const is_there = spawnSync(nginx, ['-v']).status === 0;
const page = fs.readFileSync(fileURLToPath(new URL('../../docs/http.md', import.meta.url)), 'utf8');
const [, block] = /```nginx\n([^]*?)```/.exec(page);

// Accepts by now.
async function isListening(port) {
  for (;;) {
    const socket = connectTcp(port, '127.0.0.1');
    const is_there_now = await once(socket, 'connect').then(() => true, () => false);
    socket.destroy();
    if (is_there_now) return;
  }
}

describe('Behind nginx', { skip: is_there ? false : `needs ${nginx} (apt install nginx)` }, () => {
  const daemon = new Daemon();
  const ports = {};
  let token;
  let server;

  before(async () => {
    for (const name of ['daemon', 'good', 'bare']) ports[name] = await freePort();
    daemon.declare('everything', '@modelcontextprotocol/server-everything', ['stdio']);
    token = daemon.listenOnHttp(ports.daemon);
    await daemon.start();
    const place = (name) => path.join(daemon.directory, name);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${place(name)};`).join('\n');
    const written = block.replace('127.0.0.1:8765', `127.0.0.1:${ports.daemon}`);
    assert.notEqual(written, block);
    fs.writeFileSync(place('nginx.conf'), `daemon off;\nmaster_process off;\npid ${place('nginx.pid')};\nerror_log stderr;\nevents {}\nhttp {\n${temporary}\naccess_log off;
server { listen 127.0.0.1:${ports.good};\n${written} }
server { listen 127.0.0.1:${ports.bare};\nlocation /mcp { proxy_pass http://127.0.0.1:${ports.daemon}; } }\n}\n`);
    server = spawn(nginx, ['-e', 'stderr', '-p', daemon.directory, '-c', place('nginx.conf')], { stdio: 'inherit' });
    await Promise.all([isListening(ports.good), isListening(ports.bare)]);
  });
  after(async () => {
    server.kill('SIGTERM');
    await once(server, 'exit');
    await daemon.stop();
  });

  const requestInit = () => ({ headers: { Authorization: `Bearer ${token}` } });

  for (const [sdk, { Client, StreamableHTTPClientTransport }] of [['SDK v1', v1], ['SDK v2', v2]]) {
    test(`${sdk} lists, calls, and hears progress as it comes`, async () => {
      const client = new Client({ name: 'host', version: '1' }, { capabilities: {} });
      await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${ports.good}/mcp/everything`), { requestInit: requestInit() }));
      const { tools } = await client.listTools();
      assert.ok(tools.some(({ name }) => name === 'echo'));
      const { content } = await client.callTool({ name: 'echo', arguments: { message: 'hello' } });
      assert.match(content[0].text, /hello/);
      const { callTool } = sdks.find(({ name }) => name === sdk);
      const call = (name, args, options) => callTool(client, { name, arguments: args }, options);
      const heard = await firstProgress(call, 2, 'trigger-long-running-operation', { duration: 60, steps: 600 });
      assert.deepEqual(heard.map(({ progress }) => progress), [1, 2]);
      await client.close();
    });
  }

  test('a token that is none of ours is 401 there too', async () => {
    const answer = await fetch(`http://127.0.0.1:${ports.good}/mcp/everything`, { method: 'POST', headers: { Authorization: 'Bearer x' }, body: '{}' });
    assert.equal(answer.status, 401);
  });

  test('a block without its version is told what to set', async () => {
    const answer = await fetch(`http://127.0.0.1:${ports.bare}/mcp/everything`, { method: 'POST', headers: requestInit().headers, body: '{}' });
    assert.equal(answer.status, 505);
    assert.match(await answer.text(), /behind nginx set proxy_http_version 1\.1/);
  });
});
