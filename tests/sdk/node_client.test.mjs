// The official SDK's Client, unchanged, over CellblockTransport (client/node): real servers in cells.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { Daemon, hostId } from './support/daemon.mjs';
import { NodeHost } from './support/node_host.mjs';

const daemon = new Daemon();
let host;

before(async () => {
  daemon.declareEverything(['elicitation', 'sampling', 'roots']);
  await daemon.start();
  host = new NodeHost(daemon);
});
after(async () => {
  await host?.end();
  await daemon.stop();
});

// A client of its own, as host.memory.client.
const open = (options = {}, capabilities = {}) => host.run(async (at, given, declared) => {
  const client = new at.Client({ name: 'node-host', version: '1' }, { capabilities: declared });
  at.memory.client = client;
  let onReconnected;
  at.memory.back = new Promise((resolve) => { onReconnected = resolve; });
  await client.connect(new at.CellblockTransport({ server: 'everything', onReconnected, ...given }));
}, options, capabilities);
const close = () => host.run((at) => at.memory.client.close());
const call = (name, args) =>
  host.run((at, ...given) => at.memory.client.callTool({ name: given[0], arguments: given[1] }), name, args);

describe('a host in Node', () => {
  test('lists the tools of a server in a cell, and calls many at once', async () => {
    await open();
    const names = await host.run(async ({ memory }) => (await memory.client.listTools()).tools.map(({ name }) => name));
    assert.ok(names.includes('echo'), names.join());
    const results = await host.run(({ memory }) => Promise.all(Array.from({ length: 20 }, async (_, index) => {
      const { content } = await memory.client.callTool({ name: 'echo', arguments: { message: `m${index}` } });
      return content[0].text;
    })));
    assert.deepEqual(results, Array.from({ length: 20 }, (_, index) => `Echo: m${index}`));
    await close();
  });

  test('answers a server\'s elicitation', async () => {
    const text = await host.run(async (at) => {
      const client = new at.Client({ name: 'node-host', version: '1' }, { capabilities: { elicitation: {} } });
      client.setRequestHandler(at.types.ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ada' } }));
      await client.connect(new at.CellblockTransport({ server: 'everything' }));
      const { tools } = await client.listTools();
      const { name } = tools.find((tool) => /elicitation/.test(tool.name));
      const result = await client.callTool({ name, arguments: {} });
      await client.close();
      return JSON.stringify(result.content);
    });
    assert.match(text, /Ada/);
  });

  test('uses the SDK\'s second version as well', async () => {
    const seen = await host.run(async (at) => {
      const client = new at.ClientOfV2({ name: 'node-host', version: '1' }, { capabilities: { elicitation: {} } });
      client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }));
      await client.connect(new at.CellblockTransport({ server: 'everything' }));
      const { tools } = await client.listTools();
      const { name } = tools.find((tool) => /elicitation/.test(tool.name));
      const results = [await client.callTool({ name: 'echo', arguments: { message: 'v2' } }),
                       await client.callTool({ name, arguments: {} })];
      await client.close();
      return JSON.stringify(results);
    });
    assert.match(seen, /Echo: v2.*Ada/);
  });

  test('cancels a call, and goes on', async () => {
    await open();
    const said = await host.run(async ({ memory }) => {
      const controller = new AbortController();
      const { tools } = await memory.client.listTools();
      const { name } = tools.find((tool) => /long-running|longRunning/.test(tool.name));
      const heard = [];
      const result = memory.client.callTool({ name, arguments: { duration: 600, steps: 6000 } }, undefined, {
        signal: controller.signal, onprogress: (progress) => { if (heard.push(progress) === 1) controller.abort('enough'); },
      });
      return result.then(() => 'answered', (error) => String(error.message ?? error));
    });
    assert.match(said, /enough/);
    assert.equal((await call('echo', { message: 'after' })).content[0].text, 'Echo: after');
    await close();
  });

  test('denies by its own rules what the daemon would allow, and sends nothing', async () => {
    await open({ permission: { rules: [{ name: 'echo', verdict: 'deny', reason: 'not today' }] } });
    await assert.rejects(call('echo', { message: 'x' }), ({ code, message }) => {
      assert.deepEqual([code, message], ['denied_by_host', 'the host denied this call: not today']);
      return true;
    });
    await close();
  });

  test('asks its user where a rule of the administrator\'s wants his word', async () => {
    const seen = await host.run(async (at) => {
      const asked = [];
      const onApproval = (question) => {
        asked.push(`${question.server} ${question.name} ${question.arguments}`);
        return asked.length === 1 ? 'allow' : 'deny';
      };
      const client = new at.Client({ name: 'node-host', version: '1' }, { capabilities: {} });
      await client.connect(new at.CellblockTransport({ server: 'everything', onApproval }));
      const sum = () => client.callTool({ name: 'get-sum', arguments: { a: 2, b: 3 } });
      const results = [await sum(), await sum()];
      await client.close();
      return { asked, texts: results.map(({ content }) => content[0].text), errors: results.map(({ isError }) => isError ?? false) };
    });
    assert.equal(seen.asked[0], 'everything get-sum {"a":2,"b":3}');
    assert.match(seen.texts[0], /5/);
    assert.deepEqual(seen.errors, [false, true]);
  });

  test('is told by its code why a server is refused', async () => {
    await assert.rejects(open({ server: 'nothing' }), ({ code, failure }) => {
      assert.deepEqual([code, failure], ['refused', 'not_allowlisted']);
      return true;
    });
  });

  for (const which of ['gateway', 'supervisor']) {
    test(`comes back after the ${which} was killed`, async () => {
      await open({ reconnect: { attempts: 1000, firstWaitMs: 10, longestWaitMs: 200 } });
      assert.equal((await call('echo', { message: 'one' })).content[0].text, 'Echo: one');
      await daemon.crash(which);
      await host.run(({ memory }) => memory.back);
      assert.equal((await call('echo', { message: 'two' })).content[0].text, 'Echo: two');
      await close();
    });
  }

  test('comes back after the daemon was stopped and started', async () => {
    await open({ reconnect: { attempts: 1000, firstWaitMs: 10, longestWaitMs: 200 } });
    await daemon.end();
    const later = call('echo', { message: 'later' });
    await daemon.startAgain();
    assert.equal((await later).content[0].text, 'Echo: later');
    await close();
  });
});

test('runs as nobody special', async () => {
  if (process.getuid() !== 0) return;
  assert.equal(await host.run(() => process.getuid()), hostId);
});
