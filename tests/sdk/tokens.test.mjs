// Bearer tokens while the daemon runs: a reload revokes and adds them, and unknown ones are in the audit log.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import { after, before, test } from 'node:test';

import { Daemon, fixtures, hostId } from './support/daemon.mjs';
import { declareMock, said } from './support/mock.mjs';
import { freePort } from './support/port.mjs';

const require = createRequire(path.join(fixtures, 'package.json'));
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');

const daemon = new Daemon();
const rules = { 'tools/call ok': [{ answer: said('ok') }], 'tools/call slow': [] };
const uid = process.getuid() === 0 ? hostId : process.getuid();
const secrets = {};
let listening;

function writeToken(name) {
  secrets[name] = randomBytes(32).toString('hex');
  const file = path.join(daemon.directory, `token-${name}`);
  fs.writeFileSync(file, `${secrets[name]}\n`, { mode: 0o600 });
  if (process.getuid() === 0) fs.chownSync(file, 64001, 64001);
  return `[[listen.http.token]]\nname = "${name}"\nfile = "${file}"\nuser = ${uid}\n`;
}

const tables = {};
const declareTokens = (...names) => {
  daemon.more = `${listening}${names.map((name) => tables[name]).join('')}`;
};

let url;

async function connectWith(secret) {
  const client = new Client({ name: 'host', version: '1' }, { capabilities: {} });
  const requestInit = { headers: { Authorization: `Bearer ${secret}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return client;
}

const works = async (client) => {
  const { content } = await client.callTool({ name: 'ok', arguments: {} });
  assert.equal(content[0].text, 'ok');
};

async function reloaded(args = []) {
  daemon.write();
  const { code, out, err } = await daemon.reload(args);
  assert.equal(code, 0, err);
  return out;
}

before(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}/mcp/mock`;
  listening = `[listen.http]\naddress = "127.0.0.1"\nport = ${port}\n`;
  for (const name of ['kept', 'leaked', 'later']) tables[name] = writeToken(name);
  declareMock(daemon, 'mock', rules, ['era = "legacy"', 'pin = "off"']);
  declareTokens('kept', 'leaked');
  await daemon.start();
});
after(() => daemon.stop());

test('A token that a reload takes away is revoked at once with its sessions, and no other', async () => {
  const kept = await connectWith(secrets.kept);
  const leaked = await connectWith(secrets.leaked);
  await Promise.all([works(kept), works(leaked)]);
  // The gateway tells it as a result, cellblock-http as an error: whichever hears of the reload first.
  const ended = leaked.callTool({ name: 'slow', arguments: {} }).then(({ isError, content }) => `${isError} ${content[0].text}`, String);
  // The two may go over two connections, in any order.
  const seen = async () => (await leaked.callTool({ name: 'seen', arguments: {} })).content[0].text;
  for (let tries = 0; !(await seen()).includes('"slow"') && tries < 100; ++tries);
  declareTokens('kept');
  assert.match(await reloaded(), /listen\.http\.token leaked: revoked, with its sessions: at once/);
  assert.match(await ended, /revoked/);
  await assert.rejects(works(leaked), /401|none that cellblock knows/);
  await assert.rejects(connectWith(secrets.leaked), /401|none that cellblock knows/);
  await works(kept);
  await Promise.all([kept.close(), leaked.close()]);
  assert.match(daemon.log, /reloaded by uid [0-9]+: .*listen\.http\.token leaked: revoked/);
});

test('A token that a reload adds is taken at once', async () => {
  declareTokens('kept', 'later');
  assert.match(await reloaded(), /listen\.http\.token later: added: at once/);
  const client = await connectWith(secrets.later);
  await works(client);
  await client.close();
});

test('A token of the same name with another secret takes the place of the old one', async () => {
  const old = secrets.later;
  const client = await connectWith(old);
  tables.later = writeToken('later');
  declareTokens('kept', 'later');
  assert.match(await reloaded(), /token later: revoked[^]*token later: added/);
  await assert.rejects(works(client), /401|none that cellblock knows/);
  await client.close();
  const next = await connectWith(secrets.later);
  await works(next);
  await next.close();
});

test('Unknown tokens are in the log and in the audit log, with their address', async () => {
  const told = daemon.nextLine(/cellblock-http: .*refused an unknown bearer token from 127\.0\.0\.1/);
  await assert.rejects(connectWith('x'.repeat(64)));
  await told;
  // Its record was sent before the answer, and those of later calls are written after it.
  const found = () => daemon.auditLines().find(({ kind, tool }) => kind === 'switched' && tool === 'http_token');
  const client = await connectWith(secrets.kept);
  for (let tries = 0; !found() && tries < 100; ++tries) await works(client);
  await client.close();
  assert.equal(found().outcome, 'denied');
  assert.match(JSON.stringify(found()), /unknown_token/);
  assert.match(JSON.stringify(found()), /from 127\.0\.0\.1/);
});

test('What only a restart can do refuses the whole, and with --partial only itself', async () => {
  daemon.more = daemon.more.replace('[listen.http]', '[audit]\nkeep = 3\nmax_bytes = "1MiB"\n[listen.http]\nmax_sessions = 7');
  daemon.write();
  const { code, err } = await daemon.reload();
  assert.equal(code, 1);
  assert.match(err, /takes effect at a restart only: audit\.keep; `cellblock reload --partial` leaves that and takes the rest/);
  const out = await reloaded(['--partial']);
  assert.match(out, /audit: at once\n[^]*max_bytes/);
  assert.match(out, /listen\.http: at once/);
  assert.match(out, /left for a restart: audit\.keep/);
  assert.match(await reloaded(['--partial']), /^nothing has changed\nleft for a restart: audit\.keep/);
});
