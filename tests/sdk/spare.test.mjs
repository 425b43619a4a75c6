// Cells that wait for sessions, and sessions for which there is no place for another cell.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { Daemon, unguarded } from './support/daemon.mjs';
import { declareMock, said, textOf } from './support/mock.mjs';
import { RawHost } from './support/raw_host.mjs';

const modern = '2026-07-28';
const hosts = [
  ...sdks.map((sdk) => ({ name: sdk.name, sdk })),
  { name: `SDK v2 pinned to ${modern}`, sdk: sdks[1], options: { versionNegotiation: { mode: { pin: modern } } } },
];

async function rowsOf(daemon, server) {
  const { servers } = JSON.parse(await daemon.command('status', '--json'));
  return servers.find(({ name }) => name === server).cells.filter(({ program }) => program === 'server');
}

const recordsOf = (daemon) => fs.readFileSync(path.join(daemon.directory, 'audit.log'), 'utf8').split('\n')
  .filter(Boolean).map((line) => JSON.parse(line));

describe('a spare cell', () => {
  const daemon = new Daemon();
  before(async () => {
    daemon.declareFixture('ready', 'sdk_servers/v1.mjs', {
      folders: ['sdk_servers'], packages: true, lines: ['start = { warm = 1 }', ...unguarded],
    });
    await daemon.start();
    const first = await connect(sdks[0], daemon.throughCell('ready'));
    await first.client.close();
  });
  after(() => daemon.stop());

  async function spareCell() {
    for (;;) {
      const spare = (await rowsOf(daemon, 'ready')).find(({ state }) => state === 'spare');
      if (spare) return spare.cell;
    }
  }

  for (const { name, sdk, options } of hosts) {
    test(`is the one that a session of ${name} gets, and another one takes its place`, async () => {
      const spare = await spareCell();
      const host = await connect(sdk, daemon.throughCell('ready'), options);
      try {
        assert.equal((await host.call('echo', { message: 'hello' })).content[0].text, 'hello');
        const taken = (await rowsOf(daemon, 'ready')).find(({ cell }) => cell === spare);
        assert.deepEqual([taken.state, taken.spare], ['ready', false]);
        assert.notEqual(taken.session, '0');
        assert.notEqual(await spareCell(), spare);
      } finally {
        await host.client.close();
      }
    });
  }

  test('is named in the audit log by the session that took it', () => {
    const records = recordsOf(daemon);
    const begun = records.filter(({ kind, session }) => kind === 'cell_started' && Number(session) === 0);
    const attached = new Set(records.filter(({ kind }) => kind === 'attach').map(({ cell }) => cell));
    assert.ok(begun.some(({ cell }) => attached.has(cell)), JSON.stringify(begun));
  });
});

describe('a spare cell with a short secret', () => {
  const daemon = new Daemon();
  const file = path.join(daemon.directory, 'secret');
  const write = (value) => fs.writeFileSync(file, value, { mode: 0o600 });
  before(async () => {
    write('one');
    declareMock(daemon, 'keyed', { 'tools/call key': [{ env: 'KEY' }] },
                ['era = "legacy"', 'start = { warm = 1 }', `env_from_file = { KEY = "${file}" }`]);
    await daemon.start();
  });
  after(() => daemon.stop());

  async function spareCell(but) {
    for (;;) {
      const spare = (await rowsOf(daemon, 'keyed')).find(({ state, cell }) => state === 'spare' && cell !== but);
      if (spare) return spare.cell;
    }
  }

  test('is replaced by a reload, that a session gets the new one', async () => {
    const first = new RawHost(daemon.throughCell('keyed'));
    await first.open();
    const old = await spareCell();
    write('two');
    const { code, err } = await daemon.reload();
    assert.equal(code, 0, err);
    await spareCell(old);
    const second = new RawHost(daemon.throughCell('keyed'));
    await second.open();
    assert.equal(textOf(await second.call('key')), 'two');
    await Promise.all([first.close(), second.close()]);
  });
});

describe('without a place for another cell', () => {
  const daemon = new Daemon();
  const rules = { 'tools/call ok': [{ answer: said('ok') }], 'tools/call hang': [{ hold: 'it' }] };
  before(async () => {
    daemon.daemonLines = 'max_cells_per_user = 1';
    for (const name of ['one', 'two']) declareMock(daemon, name, rules, ['era = "legacy"', 'pin = "off"']);
    await daemon.start();
  });
  after(() => daemon.stop());

  async function withBoth(talk) {
    const both = ['one', 'two'].map((name) => new RawHost(daemon.throughCell(name)));
    try {
      await talk(...both);
    } finally {
      for (const host of both) await host.close();
    }
  }

  test('the cells of sessions that take turns give way to each other', () => withBoth(async (one, two) => {
    await one.open();
    await two.open();
    for (const host of [one, two, one, two]) assert.equal(textOf(await host.call('ok')), 'ok');
    assert.ok(recordsOf(daemon).some(({ kind, reason }) => kind === 'cell_ended' && reason === 'evicted'));
    const { servers } = JSON.parse(await daemon.command('status', '--json'));
    assert.deepEqual(servers.map(({ life }) => life.failures), [0, 0]);
  }));

  test('a call keeps its cell, and the other session hears why it has none', () => withBoth(async (one, two) => {
    await one.open();
    one.send({ id: 'hanging', method: 'tools/call', params: { name: 'hang', arguments: {} } });
    await one.call('ok');
    await assert.rejects(two.open(), /as many cells/);
  }));
});
