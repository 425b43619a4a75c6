// Hosts behind `cellblock connect` whose daemon is stopped and started again.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { Daemon } from './support/daemon.mjs';
import { declareMock, said, textOf } from './support/mock.mjs';
import { RawHost, envelope } from './support/raw_host.mjs';

const daemon = new Daemon();
const rules = {
  'tools/call ok': [{ answer: said('ok') }],
  'logging/setLevel': [{ answer: {} }],
  'resources/subscribe': [{ answer: {} }],
};

before(async () => {
  declareMock(daemon, 'mock', rules, ['era = "legacy"']);
  daemon.declare('everything', '@modelcontextprotocol/server-everything', ['stdio'], ['pin = "off"']);
  await daemon.start();
});
after(() => daemon.stop());

async function again() {
  await daemon.end();
  await daemon.startAgain();
}

async function opened(parameters) {
  const host = new RawHost(parameters);
  await host.open();
  return host;
}

describe('a host of the legacy era', () => {
  test('goes on in the same session, whose server is told of it anew', async () => {
    const host = await opened(daemon.throughCell('mock'));
    await host.ask('logging/setLevel', { level: 'error' });
    await host.ask('resources/subscribe', { uri: 'test://x' });
    await again();
    host.send({ id: 'seen', method: 'tools/call', params: { name: 'seen', arguments: {} } });
    const missed = await host.receive();
    assert.deepEqual([missed.method, missed.params.uri], ['notifications/resources/updated', 'test://x']);
    const methods = textOf(await host.receive()).split('\n').map((line) => JSON.parse(line).method);
    assert.deepEqual(methods, ['initialize', 'notifications/initialized', 'logging/setLevel', 'resources/subscribe', 'tools/call']);
    await host.close();
  });

  test('is answered by the next daemon what it asks while there is none', async () => {
    const host = await opened(daemon.throughCell('mock'));
    await daemon.end();
    host.send({ id: 'meanwhile', method: 'tools/call', params: { name: 'ok', arguments: {} } });
    await daemon.startAgain();
    const answer = await host.receive();
    assert.deepEqual([answer.id, textOf(answer)], ['meanwhile', 'ok']);
    await host.close();
  });

  test('may be in the middle of a line', async () => {
    const host = await opened(daemon.throughCell('mock'));
    const line = `${JSON.stringify({ jsonrpc: '2.0', id: 'cut', method: 'tools/call', params: { name: 'ok', arguments: {} } })}\n`;
    host.sendBytes(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n${line.slice(0, 40)}`);
    await host.receive(); // so the daemon has read what came with it
    await again();
    host.sendBytes(line.slice(40));
    assert.equal(textOf(await host.receive()), 'ok');
    await host.close();
  });

  test('goes on with all servers as one', async () => {
    const host = await opened(daemon.together());
    assert.equal(textOf(await host.call('mock__ok')), 'ok');
    await again();
    host.send({ id: 'after', method: 'tools/call', params: { name: 'mock__ok', arguments: {} } });
    for (;;) {
      const answer = await host.receive();
      if (answer.id !== 'after') continue; // what may have changed meanwhile
      assert.equal(textOf(answer), 'ok');
      break;
    }
    await host.close();
  });

  test('goes on more than once', async () => {
    const host = await opened(daemon.throughCell('mock'));
    for (let i = 0; i < 3; ++i) {
      await again();
      assert.equal(textOf(await host.call('ok')), 'ok');
    }
    await again();
    await again();
    assert.equal(textOf(await host.call('ok')), 'ok');
    await host.close();
  });
});

describe('a host of the modern era', () => {
  test('goes on', async () => {
    const host = new RawHost(daemon.throughCell('mock'));
    const params = { name: 'ok', arguments: {}, _meta: envelope };
    assert.equal(textOf(await host.ask('tools/call', params)), 'ok');
    await again();
    assert.equal(textOf(await host.ask('tools/call', params)), 'ok');
    await host.close();
  });
});

for (const sdk of sdks) {
  test(`${sdk.name} calls a tool of a real server before and after`, async () => {
    const { client, call } = await connect(sdk, daemon.throughCell('everything'));
    assert.match(JSON.stringify(await call('echo', { message: 'one' })), /one/);
    await again();
    assert.match(JSON.stringify(await call('echo', { message: 'two' })), /two/);
    await client.close();
  });
}
