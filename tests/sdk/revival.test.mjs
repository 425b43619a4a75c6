// Sessions that outlive their cells: whatever ends the server, the same client goes on with the next one.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { EventEmitter, once } from 'node:events';
import { after, before, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { Daemon, unguarded } from './support/daemon.mjs';
import { declareMock, said, setRules, textOf } from './support/mock.mjs';
import { RawHost } from './support/raw_host.mjs';

const [v1, v2] = sdks;
const modern = '2026-07-28';
const hosts = [
  { name: 'SDK v1', sdk: v1 },
  { name: 'SDK v2 as it comes', sdk: v2 },
  { name: `SDK v2 pinned to ${modern}`, sdk: v2, options: { versionNegotiation: { mode: { pin: modern } } } },
];
const servers = [
  { name: 'v1', script: 'v1.mjs', args: [], lines: [] },
  { name: 'v2', script: 'v2.mjs', args: [], lines: [] },
  { name: 'v2-modern', script: 'v2.mjs', args: ['modern'], lines: [] },
  { name: 'v1-shared', script: 'v1.mjs', args: [], lines: ['cells = "per-user"'] },
];
const again = 'restart = { pause = "0ms", failures = 1000 }';
const rules = {
  'tools/call ok': [{ answer: said('ok') }],
  'tools/call crash': [{ exit: 3 }],
  'resources/subscribe': [{ answer: {} }],
  'logging/setLevel': [{ answer: {} }],
};

const daemon = new Daemon();
before(async () => {
  for (const { name, script, args, lines } of servers) {
    daemon.declareFixture(name, `sdk_servers/${script}`, {
      args, folders: ['sdk_servers'], packages: true, lines: [...lines, again, ...unguarded],
    });
  }
  daemon.declare('everything', '@modelcontextprotocol/server-everything', [], [again, ...unguarded]);
  for (const name of ['crashing', 'other', 'refusing', 'broken']) declareMock(daemon, name, rules, ['era = "legacy"', again]);
  declareMock(daemon, 'crashing-shared', rules, ['era = "legacy"', 'cells = "per-user"', again]);
  await daemon.start();
});
after(() => daemon.stop());

const uri = 'pair://watched';
const echoed = async ({ call }, message) => assert.equal((await call('echo', { message })).content[0].text, message);

for (const { name: server } of servers) {
  describe(`a session at ${server}`, () => {
    for (const { name, sdk, options } of hosts) {
      test(`of ${name} goes on after cellblock restart`, async () => {
        const host = await connect(sdk, daemon.throughCell(server), options);
        try {
          await echoed(host, 'before');
          await daemon.command('restart', server);
          await echoed(host, 'after');
          await daemon.command('restart', server);
          assert.ok((await host.client.listTools()).tools.length > 0);
        } finally {
          await host.client.close();
        }
      });
    }

    test('of a legacy host keeps its subscriptions', async () => {
      const host = await connect(v1, daemon.throughCell(server));
      try {
        const heard = new EventEmitter();
        v1.hear(host.client, 'notifications/resources/updated', () => heard.emit('updated'));
        await host.client.subscribeResource({ uri });
        await daemon.command('restart', server);
        await echoed(host, 'the next cell runs');
        const updated = once(heard, 'updated');
        await host.call('touch', { uri });
        await updated;
      } finally {
        await host.client.close();
      }
    });
  });
}

describe('a session of everybody\'s example', () => {
  for (const { name, sdk, options } of hosts) {
    test(`of ${name} goes on after cellblock restart`, async () => {
      const host = await connect(sdk, daemon.throughCell('everything'), options);
      try {
        for (const message of ['one', 'two']) {
          assert.equal((await host.call('echo', { message })).content[0].text, `Echo: ${message}`);
          await daemon.command('restart', 'everything');
        }
      } finally {
        await host.client.close();
      }
    });
  }
});

async function opened(server, talk) {
  const host = new RawHost(daemon.throughCell(server));
  try {
    await host.open();
    return await talk(host);
  } finally {
    await host.close();
  }
}

for (const server of ['crashing', 'crashing-shared']) {
  describe(`a server that crashes in a call (${server})`, () => {
    test('fails that call, and hears what the host had said again before the next one', () => opened(server, async (host) => {
      await host.ask('logging/setLevel', { level: 'debug' });
      await host.ask('resources/subscribe', { uri });
      const { result } = await host.call('crash');
      assert.equal(result._meta['cellblock/error'].code, 'server_failed');
      host.send({ id: 'next', method: 'tools/call', params: { name: 'seen' } });
      assert.equal((await host.receive()).method, 'notifications/resources/updated');
      const answer = await host.receive();
      assert.equal(answer.id, 'next');
      const seen = textOf(answer).split('\n').map((line) => JSON.parse(line));
      assert.deepEqual(seen.map(({ method }) => method), [
        'initialize', 'notifications/initialized', 'logging/setLevel', 'resources/subscribe', 'tools/call']);
      assert.equal(textOf(await host.call('ok')), 'ok');
    }));

    test('is used by a host that calls nothing else, crash after crash', () => opened(server, async (host) => {
      for (let i = 0; i < 3; ++i) assert.equal((await host.call('crash')).result.isError, true);
      assert.equal(textOf(await host.call('ok')), 'ok');
    }));
  });
}

describe('a server that has become another one', () => {
  const capabilities = { tools: {}, logging: {}, resources: { subscribe: true } };
  const serverInfo = { name: 'mock', version: '2' };

  async function refused(server, initialize, why) {
    setRules(daemon, server, rules);
    await opened(server, async (host) => {
      setRules(daemon, server, { ...rules, initialize });
      await host.call('crash');
      const { result } = await host.call('ok');
      assert.match(result.content[0].text, why);
      assert.equal(await host.line(), undefined);
    });
  }

  test('of another protocol version ends the session and says why', () =>
    refused('other', [{ answer: { protocolVersion: '2025-06-18', capabilities, serverInfo } }],
            /was started again, but this session cannot go on in its new cell: it answered initialize with protocol version "2025-06-18"/));

  test('of fewer capabilities as well', () =>
    refused('other', [{ answer: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } }],
            /it no longer has the capability logging/));

  test('that refuses initialize as well', () =>
    refused('refusing', [{ error: { code: -32603, message: 'no licence' } }], /it refused initialize: no licence/));
});

describe('a server whose new cell fails while it is introduced', () => {
  test('fails what was asked, and serves the same session when it is mended', () => opened('broken', async (host) => {
    setRules(daemon, 'broken', { ...rules, initialize: [{ exit: 4 }] });
    await host.call('crash');
    assert.match((await host.call('ok')).result.content[0].text, /exited with code 4 before it answered/);
    const { servers: rows } = JSON.parse(await daemon.command('status', '--json'));
    assert.equal(rows.find(({ name }) => name === 'broken').state, 'failed');
    setRules(daemon, 'broken', rules);
    assert.equal(textOf(await host.call('ok')), 'ok');
  }));
});

describe('the audit log', () => {
  test('tells a cell that takes a session on from a first one', async () => {
    await opened('crashing', async (host) => {
      await host.call('crash');
      await host.call('ok');
    });
    const lines = fs.readFileSync(path.join(daemon.directory, 'audit.log'), 'utf8').split('\n').filter(Boolean);
    const records = lines.map((line) => JSON.parse(line));
    assert.ok(records.some(({ event, kind, reason, server }) =>
      (event ?? kind) === 'attach' && reason === 'revival' && server === 'crashing'));
  });
});
