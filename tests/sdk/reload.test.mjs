// A configuration that changes while hosts are connected.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { asHost, Daemon, unguarded } from './support/daemon.mjs';
import { declareMock, said, textOf } from './support/mock.mjs';
import { RawHost } from './support/raw_host.mjs';

const [v1] = sdks;
const daemon = new Daemon();
const later = {};
const rules = {
  'tools/call ok': [{ answer: said('ok') }],
  'tools/call slow': [{ busy: 2_000 }, { answer: said('slow') }],
};
const legacy = ['era = "legacy"', 'pin = "off"'];
const denying = (tool) => [...legacy, `[[server.NAME.rule]]\neffect = "deny"\ntools = ["${tool}"]`];

before(async () => {
  for (const name of ['steady', 'other', 'added']) declareMock(daemon, name, rules, legacy);
  for (const name of ['everything', 'everything2']) daemon.declare(name, '@modelcontextprotocol/server-everything', [], unguarded);
  // Their files are there from the beginning: to touch a server's files gives it other cells.
  for (const name of ['added', 'everything2']) later[name] = daemon.forget(name);
  await daemon.start();
});
after(() => daemon.stop());
beforeEach(() => {
  for (const name of ['steady', 'other']) daemon.setLines(name, legacy);
  daemon.daemonLines = '';
});

const lines = (name, extra) => [...legacy, ...extra.map((line) => line.replaceAll('NAME', name))];

async function reloaded() {
  daemon.write();
  const { code, out, err } = await daemon.reload();
  assert.equal(code, 0, err);
  return out;
}

async function withHost(server, talk) {
  const host = new RawHost(daemon.throughCell(server));
  try {
    await host.open();
    await talk(host);
  } finally {
    await host.close();
  }
}

// Names of those that the daemon itself says are declared.
function declared() {
  const { status, stdout, stderr } = spawnSync(path.join(daemon.directory, 'bin', 'cellblock'), ['--socket', daemon.socket, '--json', 'status'],
                                               { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout).servers.map(({ name }) => name);
}

async function cellOf(server) {
  const { servers } = JSON.parse(await daemon.command('status', '--json'));
  const { cell } = servers.find(({ name }) => name === server).cells[0];
  assert.match(cell, /^[0-9]+$/);
  return cell;
}

test('A rule holds for the next request of a session that is open, and its cell stays', () => withHost('steady', async (host) => {
  assert.equal(textOf(await host.call('ok')), 'ok');
  const cell = await cellOf('steady');
  daemon.setLines('steady', lines('steady', denying('ok').slice(legacy.length)));
  assert.match(await reloaded(), /^reloaded\n  server steady: allow, rule: from the next request on\n$/);
  assert.notEqual(textOf(await host.call('ok')), 'ok');
  daemon.setLines('steady', legacy);
  await reloaded();
  assert.equal(textOf(await host.call('ok')), 'ok');
  assert.equal(await cellOf('steady'), cell);
}));

test('The time to drain and what is kept of lists are others from then on', () => withHost('steady', async (host) => {
  const cell = await cellOf('steady');
  const before = daemon.more;
  daemon.daemonLines = 'drain = "7s"\n';
  daemon.more += '[catalogue]\nmax_bytes = "1MiB"\n';
  const told = await reloaded();
  assert.match(told, /daemon\.drain: "5s" -> "7s"/);
  assert.match(told, /catalogue: at once\n +max_bytes: "16MiB" -> "1MiB"/);
  assert.equal(textOf(await host.call('ok')), 'ok');
  assert.equal(await cellOf('steady'), cell);
  daemon.daemonLines = '';
  daemon.more = before;
  await reloaded();
}));

test('What cells are made of gives a session another cell when its call has finished', () => withHost('steady', async (host) => {
  assert.equal(textOf(await host.call('ok')), 'ok');
  const cell = await cellOf('steady');
  host.send({ id: 'slow', method: 'tools/call', params: { name: 'slow', arguments: {} } });
  daemon.setLines('steady', [...legacy, 'env = { COLOUR = "green" }']);
  assert.match(await reloaded(), /server steady: env: its cells are replaced/);
  assert.equal(textOf(await host.receive()), 'slow');
  assert.equal(textOf(await host.call('ok')), 'ok');
  assert.notEqual(await cellOf('steady'), cell);
}));

test('Another server does not notice', () => withHost('other', async (host) => {
  assert.equal(textOf(await host.call('ok')), 'ok');
  const cell = await cellOf('other');
  daemon.setLines('steady', [...legacy, 'env = { COLOUR = "red" }']);
  await reloaded();
  assert.equal(textOf(await host.call('ok')), 'ok');
  assert.equal(await cellOf('other'), cell);
}));

test('A server can be added and taken away', async () => {
  daemon.bringBack('added', later.added);
  assert.match(await reloaded(), /server added: added: can be used/);
  await withHost('added', async (host) => {
    assert.equal(textOf(await host.call('ok')), 'ok');
    daemon.forget('added');
    assert.match(await reloaded(), /server added: removed: its sessions are ended/);
    assert.equal(await host.receive(), undefined);
  });
  const late = new RawHost(daemon.throughCell('added'));
  const { error } = await late.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } });
  assert.equal(error.data.code, 'not_allowlisted');
  await late.close();
});

test('An administrator sees what is declared by then', { skip: process.getuid() !== 0 && 'needs root' }, async () => {
  daemon.bringBack('added', later.added);
  await reloaded();
  assert.ok(declared().includes('added'));
  daemon.forget('added');
  await reloaded();
  assert.ok(!declared().includes('added'));
  assert.ok(declared().includes('steady'));
});

test('A host with all servers at once has the tools of a new one', async () => {
  const side = await connect(v1, daemon.together());
  try {
    const names = async () => (await side.client.listTools()).tools.map(({ name }) => name);
    assert.ok(!(await names()).some((name) => name.startsWith('everything2__')));
    daemon.bringBack('everything2', later.everything2);
    await reloaded();
    assert.ok((await names()).includes('everything2__echo'));
    const { content } = await side.call('everything2__echo', { message: 'new' });
    assert.match(content[0].text, /new/);
    daemon.forget('everything2');
    await reloaded();
    assert.ok(!(await names()).some((name) => name.startsWith('everything2__')));
  } finally {
    await side.client.close();
  }
});

describe('Nothing changes', () => {
  const stays = (talk) => withHost('other', async (host) => {
    await host.call('ok');
    const cell = await cellOf('other');
    await talk();
    assert.equal(textOf(await host.call('ok')), 'ok');
    assert.equal(await cellOf('other'), cell);
  });

  test('by a file that cannot be read, and the place of the mistake is told', () => stays(async () => {
    daemon.write(`${daemon.configuration()}\n[server.broken]\ncommand = 7\n`);
    const { code, err } = await daemon.reload();
    assert.equal(code, 1);
    assert.match(err, /nothing was changed: .*cellblock\.toml:\d+:\d+.*server\.broken/s);
  }));

  test('by what takes effect at a start only', () => stays(async () => {
    const before = daemon.more;
    daemon.more += '[audit]\nkeep = 3\n';
    daemon.write();
    const { code, err } = await daemon.reload();
    daemon.more = before;
    assert.equal(code, 1);
    assert.match(err, /takes effect at a restart only: audit\.keep/);
  }));

  test('by a path that no cell may have', () => stays(async () => {
    daemon.setLines('other', [...legacy, 'env = { COLOUR = "green" }', 'read = ["/proc/1"]']);
    daemon.write();
    const { code, err } = await daemon.reload();
    assert.equal(code, 1);
    assert.match(err, /nothing was changed: .*\/proc\/1/s);
  }));

  test('by a dry run', () => stays(async () => {
    daemon.setLines('other', [...legacy, 'env = { COLOUR = "blue" }', 'limits = { pids = 300 }']);
    daemon.write();
    const { code, out } = await daemon.reload(['--dry-run', '--json']);
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(out), {
      ok: true, applied: false, changes: [{ server: 'other', change: 'cell', keys: ['env', 'limits'] }],
      values: [{ key: 'server.other.limits.pids', from: '256', to: '300' }],
      left: [], broken: [],
    });
  }));

  test('by a file that says what it said', () => stays(async () => {
    assert.equal(await reloaded(), 'nothing has changed\n');
  }));

  test('by anybody but an administrator', { skip: asHost.length === 0 && 'rootless there is one user' }, () => stays(async () => {
    const { code, err } = await daemon.reload([], asHost);
    assert.notEqual(code, 0);
    assert.match(err, /Only root/);
  }));
});

test('SIGHUP does the same, with the rights that the daemon has left', () => withHost('steady', async (host) => {
  daemon.setLines('steady', lines('steady', denying('ok').slice(legacy.length)));
  daemon.write();
  const told = daemon.nextLine(/reloaded by uid/);
  daemon.process.kill('SIGHUP');
  assert.match(await told, /server steady: allow, rule/);
  assert.notEqual(textOf(await host.call('ok')), 'ok');
}));
