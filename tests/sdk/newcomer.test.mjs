// A person who has an account only since the daemon runs, and whom servers would have to run as: a reload
// leaves out what is his, and takes the rest.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { Daemon, hostId } from './support/daemon.mjs';
import { declareMock, said, textOf } from './support/mock.mjs';
import { RawHost } from './support/raw_host.mjs';

const isRoot = process.getuid() === 0;
const newcomer = hostId + 7;
const rules = { 'tools/call ok': [{ answer: said('ok') }] };
const legacy = ['era = "legacy"', 'pin = "off"'];
const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };

function as(uid, parameters) {
  const args = [...parameters.args];
  const at = args.indexOf('--reuid');
  args[at + 1] = args[at + 3] = `${uid}`;
  return { ...parameters, args };
}

// A mount namespace in which /etc/passwd is a file of ours, for as long as its process lives.
async function withAccounts(file) {
  const script = `mount --bind ${file} /etc/passwd && echo made && exec cat`;
  const holder = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  return { within: ['nsenter', `--mount=/proc/${holder.pid}/ns/mnt`], end: () => holder.stdin.end() };
}

describe('A person who came after the start', { skip: isRoot ? false : 'needs root: two users' }, () => {
  const daemon = new Daemon();
  const accounts = path.join(daemon.directory, 'passwd');
  const add = (name, uid) => fs.appendFileSync(accounts, `${name}:x:${uid}:${uid}::/nonexistent:/bin/false\n`);
  const client = [...legacy, 'run_as = "client"'];
  const allowing = (server) => `[[server.${server}.rule]]\neffect = "allow"\nusers = ["cb-newcomer"]\ntools = ["*"]`;
  let host;
  let namespace;

  before(async () => {
    fs.copyFileSync('/etc/passwd', accounts);
    add('cb-known', hostId);
    namespace = await withAccounts(accounts);
    daemon.within = namespace.within;
    declareMock(daemon, 'shared', rules, client);
    declareMock(daemon, 'other', rules, legacy);
    await daemon.start();
    host = new RawHost(daemon.throughCell('shared'));
    await host.open();
    assert.equal(textOf(await host.call('ok')), 'ok');
  });
  after(async () => {
    await host.close();
    await daemon.stop();
    namespace.end();
  });

  async function attachError(uid, server) {
    const one = new RawHost(as(uid, daemon.throughCell(server)));
    const { error } = await one.ask('initialize', initialize);
    await one.close();
    return error;
  }

  async function answers(uid, server) {
    const one = new RawHost(as(uid, daemon.throughCell(server)));
    await one.open();
    assert.equal(textOf(await one.call('ok')), 'ok');
    await one.close();
  }

  test('is named by the reload, which takes the rest', async () => {
    add('cb-newcomer', newcomer);
    daemon.setLines('shared', [...client, allowing('shared')]);
    daemon.setLines('other', [...legacy, allowing('other')]);
    declareMock(daemon, 'named', rules, [...legacy, 'run_as = "cb-newcomer"']);
    daemon.write();
    const { code, out, err } = await daemon.reload();
    assert.equal(code, 0, err);
    assert.match(out, /broken: run_as = "client": uid 64108 cannot be run as, .*restart cellblockd/);
    assert.match(out, /broken: server named: run_as: "cb-newcomer" was not here before; allowed: restart cellblockd/);
    assert.match(daemon.log, /run_as = "client" is broken: uid 64108/);
  });

  test('costs others nothing', async () => {
    assert.equal(textOf(await host.call('ok')), 'ok');
    await answers(hostId, 'shared');
  });

  test('uses at once what has an id of its own', () => answers(newcomer, 'other'));

  test('is told to have cellblockd restarted where it would have to run as him', async () => {
    const error = await attachError(newcomer, 'shared');
    assert.equal(error.data.code, 'identity_not_mapped');
    assert.match(error.message, /restart it for a newer account/);
  });

  test('is named by each reload, which changes nothing further', async () => {
    const { code, out, err } = await daemon.reload();
    assert.equal(code, 0, err);
    assert.match(out, /^nothing has changed\n[^]*broken: run_as = "client"/);
  });

  test('uses everything after a restart', async () => {
    await daemon.end();
    await daemon.startAgain();
    await answers(newcomer, 'shared');
    await answers(hostId, 'named');
  });
});
