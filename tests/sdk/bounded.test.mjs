// Results that are too large for their host: what real clients of both eras make of what cellblock
// makes of them, and what it costs the gateway.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { Daemon } from './support/daemon.mjs';
import { declareMock } from './support/mock.mjs';
import { envelope, RawHost, subscriptionKey } from './support/raw_host.mjs';

const daemon = new Daemon();
const megabyte = 1 << 20;
const rows = (count) => Array.from({ length: count }, (_, i) => `row ${i} of many`).join('\n');

before(async () => {
  const content = [{ type: 'text', text: rows(20_000) }];
  declareMock(daemon, 'large', {
    'tools/call huge': [{ huge: 50 * megabyte }],
    'tools/call rows': [{ answer: { resultType: 'complete', content } }],
    'tools/call data': [{ answer: { resultType: 'complete', content, structuredContent: { rows: rows(20_000) } } }],
    'tools/list': [{ answer: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools: [
      ...['huge', 'rows', 'seen'].map((name) => ({ name, inputSchema: { type: 'object' } })),
      { name: 'data', inputSchema: { type: 'object' },
        outputSchema: { type: 'object', properties: { rows: { type: 'string' } }, required: ['rows'] } },
    ] } }],
  }, ['lines = { from_server = "64MiB" }', 'results = { max_bytes = "25000B" }']);
  declareMock(daemon, 'whole', { 'tools/call rows': [{ answer: { resultType: 'complete', content } }] },
              ['results = { bounds = "off" }']);
  for (const version of ['v1', 'v2']) {
    daemon.declareFixture(version, `sdk_servers/${version}.mjs`, { args: version === 'v2' ? ['modern'] : [], folders: ['sdk_servers'], packages: true,
                                                                 lines: ['results = { max_bytes = "5000B" }'] });
  }
  daemon.bounds = 'on';
  await daemon.start();
});
after(() => daemon.stop());

// MiB of this daemon's only gateway, the one whose mount of programs is below its directory.
function gatewayMemory(what) {
  const children = (pid) => fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  const below = (pid) => children(pid).flatMap((child) => [child, ...below(child)]);
  const status = below(daemon.process.pid).map((pid) => fs.readFileSync(`/proc/${pid}/status`, 'utf8'))
    .filter((text) => /^Name:\s+cellblock-gatew/m.test(text));
  const sizes = status.map((text) => Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(text)[1]) / 1024);
  return Math.max(...sizes);
}

async function withClient(sdk, transport, talk) {
  const { client, call } = await connect(sdk, transport);
  try {
    await talk(client, call);
  } finally {
    await client.close();
  }
}

const noteIn = (text) => /\{"uri": "(cellblock:\/\/results\/[^"]+)", "offset": (\d+)\}/.exec(text);

for (const sdk of sdks) {
  describe(`a host of the ${sdk.name}`, () => {
    test('is given a valid cut result, and reads the rest by pages', async () => {
      await withClient(sdk, daemon.throughCell('large'), async (client, call) => {
        const { tools } = await client.listTools();
        assert.equal(tools.at(-1).name, 'cellblock_read_result');
        const result = await call('rows');
        const { text } = result.content[0];
        assert.ok(Buffer.byteLength(text) <= 25_000, `${text.length}`);
        assert.match(text, /^row 0 of many\n/);
        assert.match(text, /row 19999 of many$/);
        const [, uri, offset] = noteIn(text);
        let whole = text.slice(0, text.indexOf('\n\n[cellblock'));
        assert.equal(whole.length, Number(offset));
        for (let at = Number(offset); at !== undefined;) {
          const page = await call('cellblock_read_result', { uri, offset: at });
          assert.ok(Buffer.byteLength(page.content[0].text) <= 25_000);
          whole += page.content[0].text;
          at = page._meta['cellblock/page'].next;
        }
        assert.equal(whole, rows(20_000));
        const found = await call('cellblock_read_result', { uri, grep: '^row 1234\\d ' });
        assert.equal(found.content[0].text.trim().split('\n').length, 10);
        const resource = await client.readResource({ uri });
        assert.match(resource.contents[0].text, /^row 0 of many\n/);
      });
    });

    test('takes the result of a tool with an output schema whose data was left out', async () => {
      await withClient(sdk, daemon.throughCell('large'), async (client, call) => {
        await client.listTools();
        const result = await call('data');
        assert.equal(result.isError, true);
        assert.equal(result.structuredContent, undefined);
        assert.match(result.content.at(-1).text, /left out structuredContent/);
      });
    });

    test('is given whole results where bounds are off, and no tool of cellblock', async () => {
      await withClient(sdk, daemon.throughCell('whole'), async (client, call) => {
        const { tools } = await client.listTools();
        assert.ok(!tools.some(({ name }) => name === 'cellblock_read_result'));
        const result = await call('rows');
        assert.equal(result.content[0].text, rows(20_000));
      });
    });

    test('has the tool once beside all servers', async () => {
      await withClient(sdk, daemon.together(), async (client, call) => {
        const { tools } = await client.listTools();
        assert.equal(tools.filter(({ name }) => name.includes('cellblock_read_result')).length, 1);
        const result = await call('large__rows');
        const [, uri] = noteIn(result.content[0].text);
        const page = await call('cellblock_read_result', { uri, limit: 100 });
        assert.match(page.content[0].text, /^row 0 of many\n/);
      });
    });
  });
}

describe('a modern host with a stream for changed lists of tools', () => {
  for (const [way, parameters, echo] of [['a server of the SDK v1', () => daemon.throughCell('v1'), 'echo'],
                                         ['a server of the SDK v2', () => daemon.throughCell('v2'), 'echo'],
                                         ['all servers as one', () => daemon.together(), 'v1__echo']]) {
    test(`is listed the reading tool once a result of ${way} was cut`, async () => {
      // So that nothing about the servers comes to be known while it listens.
      await withClient(sdks[0], parameters(), (client) => client.listTools());
      const host = new RawHost(parameters());
      const ask = (method, params) => host.ask(method, { ...params, _meta: envelope });
      const names = async () => (await ask('tools/list', {})).result.tools.map(({ name }) => name);
      try {
        host.send({ id: 'lists', method: 'subscriptions/listen',
                    params: { notifications: { toolsListChanged: true }, _meta: envelope } });
        const acknowledged = await host.receive();
        assert.equal(acknowledged.params.notifications.toolsListChanged, true, JSON.stringify(acknowledged));
        assert.ok(!(await names()).includes('cellblock_read_result'));
        const small = await ask('tools/call', { name: echo, arguments: { message: 'short' } });
        assert.match(small.result.content[0].text, /^short$/);
        const { result } = await ask('tools/call', { name: echo, arguments: { message: 'long '.repeat(2_000) } });
        const [, uri] = noteIn(result.content[0].text);
        const told = await host.receive();
        assert.equal(told.method, 'notifications/tools/list_changed');
        assert.equal(told.params._meta[subscriptionKey], 'lists');
        assert.equal((await names()).filter((name) => name === 'cellblock_read_result').length, 1);
        const page = await ask('tools/call', { name: 'cellblock_read_result', arguments: { uri, limit: 9 } });
        assert.match(page.result.content[0].text, /^long long/);
      } finally {
        await host.close();
      }
    });
  }
});

test('50 MB through a host with a bound of 25,000 bytes cost the gateway a bounded memory', async (t) => {
  await withClient(sdks[0], daemon.throughCell('large'), async (client, call) => {
    const result = await call('huge');
    const { text } = result.content[0];
    assert.ok(Buffer.byteLength(text) <= 25_000);
    assert.ok(text.includes(`of ${50 * megabyte} bytes`));
    const [, uri] = noteIn(text);
    const last = await call('cellblock_read_result', { uri, offset: 50 * megabyte - 1000 });
    assert.equal(last.content[0].text, 'x'.repeat(1000));
    assert.equal(last._meta['cellblock/page'].next, undefined);
    const peak = gatewayMemory('VmHWM');
    t.diagnostic(`gateway: ${peak.toFixed(0)} MiB at its peak, ${gatewayMemory('VmRSS').toFixed(0)} MiB after`);
    assert.ok(peak > 0 && peak < 400, `${peak} MiB`);
  });
});
