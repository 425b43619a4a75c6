// Cells that nobody needs are stopped, and servers that say nothing are ended; sessions go on.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { Daemon, unguarded } from './support/daemon.mjs';
import { declareMock, said, setRules, textOf } from './support/mock.mjs';
import { RawHost } from './support/raw_host.mjs';

const modern = '2026-07-28';
const hosts = [
  ...sdks.map((sdk) => ({ name: sdk.name, sdk })),
  { name: `SDK v2 pinned to ${modern}`, sdk: sdks[1], options: { versionNegotiation: { mode: { pin: modern } } } },
];
const idle = 'stop = { idle = "1s" }';
const rules = { 'tools/call ok': [{ answer: said('ok') }], 'tools/call hang': [{ silence: true }] };

const daemon = new Daemon();
before(async () => {
  for (const [name, lines] of [['alone', []], ['shared', ['cells = "per-user"']]]) {
    daemon.declareFixture(name, 'sdk_servers/v1.mjs', {
      folders: ['sdk_servers'], packages: true, lines: [idle, ...lines, ...unguarded],
    });
  }
  declareMock(daemon, 'hanging', rules, [
    'era = "legacy"', 'health = { ping = "1s", timeout = "10s" }', 'restart = { pause = "0ms" }']);
  await daemon.start();
});
after(() => daemon.stop());

const records = () => fs.readFileSync(path.join(daemon.directory, 'audit.log'), 'utf8').split('\n').filter(Boolean)
  .map((line) => JSON.parse(line));
const ends = (server) => records().filter((record) => record.server === server && record.kind === 'cell_ended');

async function row(server) {
  const { servers } = JSON.parse(await daemon.command('status', '--json'));
  return servers.find(({ name }) => name === server);
}

async function stopped(server) {
  while ((await row(server)).cells.length !== 0) { /* until its time is over */ }
}

for (const server of ['alone', 'shared']) {
  describe(`a cell that nobody needs (${server})`, () => {
    for (const { name, sdk, options } of hosts) {
      test(`is stopped, and ${name} finds another one`, async () => {
        const host = await connect(sdk, daemon.throughCell(server), options);
        try {
          for (const message of ['first', 'second']) {
            assert.equal((await host.call('echo', { message })).content[0].text, message);
            await stopped(server);
          }
          const { state, life } = await row(server);
          assert.deepEqual([state, life.failures], ['stopped', 0]);
        } finally {
          await host.client.close();
        }
      });
    }

    test('ends in the audit log as idle', () => {
      const reasons = ends(server).map(({ reason }) => reason);
      assert.ok(reasons.includes('idle'), `${reasons}`);
    });
  });
}

describe('a server that hangs', () => {
  test('is ended, its call fails with the cause, and the session goes on', async () => {
    const host = new RawHost(daemon.throughCell('hanging'));
    try {
      await host.open();
      const { result } = await host.call('hang');
      const failure = result._meta['cellblock/error'];
      assert.deepEqual([failure.code, failure.verdict], ['server_failed', 'unresponsive']);
      assert.equal((await row('hanging')).state, 'failed');
      setRules(daemon, 'hanging', rules);
      assert.equal(textOf(await host.call('ok')), 'ok');
    } finally {
      await host.close();
    }
  });
});
