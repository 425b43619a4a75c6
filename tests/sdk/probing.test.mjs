// Hosts that ask first which era a server speaks: the bridge is started twice, the first time for one
// answer only, whatever the server does with such a question.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { Daemon } from './support/daemon.mjs';
import { declareMock, said, textOf } from './support/mock.mjs';
import { RawHost, envelope } from './support/raw_host.mjs';

const daemon = new Daemon();
const echo = { 'tools/call echo': [{ answer: { resultType: 'complete', ...said('hello') } }] };
const servers = {
  modern: {},
  'refuses': { 'server/discover': [{ error: { code: -32601, message: 'Method not found' } }] },
  'misunderstands': { 'server/discover': [{ error: { code: -32602, message: 'Invalid request parameters' } }] },
  'exits': { 'server/discover': [{ exit: 1 }] },
  'crashes': { 'server/discover': [{ raise: 'SIGSEGV' }] },
  'is-silent': { 'server/discover': [{ hold: 'probe' }] },
  'says-nonsense': { 'server/discover': [{ line: 'what?' }, { answer: 7 }] },
};

const gone = ['initialize', 'logging/setLevel', 'resources/subscribe'];
const refusal = [{ error: { code: -32601, message: 'Method not found' } }];
const strict = Object.fromEntries(gone.map((method) => [method, refusal]));

before(async () => {
  declareMock(daemon, 'strict', { ...echo, ...strict });
  for (const [name, rules] of Object.entries(servers)) declareMock(daemon, name, { ...echo, ...rules });
  await daemon.start();
});
after(() => daemon.stop());

describe('a host that probes with a process of its own', () => {
  for (const name of Object.keys(servers)) {
    test(`gets a session with a server that ${name === 'modern' ? 'is modern' : name} when it is asked`, async () => {
      const side = await connect(sdks[1], daemon.throughCell(name), { versionNegotiation: { mode: 'auto' } });
      try {
        assert.equal(side.client.getProtocolEra(), 'modern');
        assert.equal((await side.call('echo')).content[0].text, 'hello');
      } finally {
        await side.client.close();
      }
    });
  }
});

describe('a host that probes and goes on with the same process', () => {
  for (const name of Object.keys(servers)) {
    test(`may go on in either era with a server that ${name}`, async () => {
      for (const era of ['legacy', 'modern']) {
        const host = new RawHost(daemon.throughCell(name));
        const { result } = await host.ask('server/discover', { _meta: envelope });
        assert.ok(result.supportedVersions.includes('2026-07-28'));
        if (era === 'legacy') await host.open();
        const call = { name: 'echo', arguments: {}, ...(era === 'modern' ? { _meta: envelope } : {}) };
        assert.equal(textOf(await host.ask('tools/call', call)), 'hello');
        await host.close();
      }
    });
  }
});

describe('a host of the new era that asks for what only the old one has', () => {
  test('is refused that, and goes on', async () => {
    for (const name of ['strict', 'refuses']) {
      const host = new RawHost(daemon.throughCell(name));
      for (const method of [...gone, 'ping']) {
        assert.equal((await host.ask(method, { _meta: envelope })).error.code, -32601, method);
      }
      assert.equal(textOf(await host.ask('tools/call', { name: 'echo', arguments: {}, _meta: envelope })), 'hello');
      await host.close();
    }
  });
});
