// How many calls at one time, for how long, and which are made again, with a server that never answers.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';

import { connect as connectClient, sdks } from './support/clients.mjs';
import { Daemon } from './support/daemon.mjs';
import { declareMock, said, textOf } from './support/mock.mjs';
import { RawHost, envelope } from './support/raw_host.mjs';

const daemon = new Daemon();
const progress = (value) =>
  ({ send: { method: 'notifications/progress', params: { progressToken: '$token', progress: value } } });
const step = { busy: 1500 };

const rules = {
  'tools/call hold': [{ hold: 'call' }],
  'tools/call steps': [progress(1), step, progress(2), step, progress(3), step, { answer: said('done') }],
  'tools/call late': [{ answer: said('late'), to: 'call' }, { answer: said('ok') }],
  'tools/call ok': [{ answer: said('ok') }],
  'tools/call die': [{ exit: 3 }],
  'prompts/get': [{ hold: 'prompt' }],
  'notifications/initialized': [],
};

before(async () => {
  declareMock(daemon, 'narrow', rules, ['calls = { in_flight = 1 }']);
  declareMock(daemon, 'queued', rules, ['calls = { in_flight = 1, queue = 1 }']);
  declareMock(daemon, 'slow', rules, ['calls = { rate = "1000/s", deadline = "2s" }']);
  declareMock(daemon, 'steady', rules, ['calls = { deadline = "4s", max_deadline = "1m" }']);
  const tools = ['ok', 'die'].map((name) => ({ name, inputSchema: { type: 'object' } }));
  declareMock(daemon, 'fragile', { ...rules, 'tools/list': [{ answer: { tools } }] }, ['era = "legacy"', 'calls = { retries = 2 }',
                                         'tool = { die = { idempotent = true } }']);
  await daemon.start();
});
after(() => daemon.stop());

let host;
const connect = (server) => { host = new RawHost(daemon.throughCell(server)); return host.open(); };
const connectModern = (server) => { host = new RawHost(daemon.throughCell(server)); };
afterEach(() => host.close());

const failureOf = (answer) => answer.result?._meta?.['cellblock/error'] ?? answer.error?.data;
const hold = (id) => host.send({ id, method: 'tools/call', params: { name: 'hold' } });
const cancel = (requestId) => host.send({ method: 'notifications/cancelled', params: { requestId } });

describe('a call over the bound of those in flight', () => {
  test('is refused with when to try again, and passes when there is room', async () => {
    await connect('narrow');
    hold(1);
    const refused = await host.call('ok');
    assert.equal(refused.result.isError, true);
    assert.equal(failureOf(refused).code, 'rate_limited');
    assert.ok(failureOf(refused).retry_after_ms > 0);
    assert.match(textOf(refused), /too many calls of server "narrow" at one time: 1 are allowed/);
    assert.equal(refused.result.content[1].text, failureOf(refused).advice);
    cancel(1);
    assert.equal(textOf(await host.call('ok')), 'ok');
    const calls = (await host.seen()).filter(({ method }) => method === 'tools/call').map(({ params }) => params.name);
    // A call that is cancelled before it was recorded never reaches the server.
    assert.deepEqual(calls.filter((name) => name !== 'hold'), ['ok', 'seen']);
  });

  test('of another session of that user is refused too', async () => {
    await connect('narrow');
    hold(1);
    assert.equal(failureOf(await host.call('ok')).code, 'rate_limited');
    const other = new RawHost(daemon.throughCell('narrow'));
    try {
      await other.open();
      assert.equal(failureOf(await other.call('ok')).code, 'rate_limited');
      cancel(1);
      assert.equal((await host.ask('ping')).error, undefined);
      assert.equal(textOf(await other.call('ok')), 'ok');
    } finally {
      await other.close();
    }
  });

  test('waits where there is a queue, and is answered in its turn', async () => {
    await connect('queued');
    hold(1);
    host.send({ id: 2, method: 'tools/call', params: { name: 'ok' } });
    assert.equal(failureOf(await host.call('ok', {}, 3)).code, 'rate_limited');
    cancel(1);
    const answer = await host.receive();
    assert.equal(answer.id, 2);
    assert.equal(textOf(answer), 'ok');
  });
});

describe('a call whose time is over', () => {
  test('fails with a code, the server is told to stop, and what it says then is dropped', async () => {
    await connect('slow');
    hold(1);
    const failed = await host.receive();
    assert.equal(failed.id, 1);
    assert.equal(failureOf(failed).code, 'timeout');
    assert.match(textOf(failed), /tool "hold" of server "slow" did not answer within 2s/);
    assert.equal(textOf(await host.call('late')), 'ok');
    const seen = await host.seen();
    const held = seen.find(({ params }) => params?.name === 'hold');
    const told = seen.find(({ method }) => method === 'notifications/cancelled');
    assert.equal(told.params.requestId, held.id);
  });

  test('and is no call of a tool fails with an error', async () => {
    await connect('slow');
    host.send({ id: 1, method: 'prompts/get', params: { name: 'p' } });
    const failed = await host.receive();
    assert.equal(failed.error.code, -31017);
    assert.equal(failed.error.data.code, 'timeout');
  });

  test('has time anew with progress', async () => {
    await connect('steady');
    host.send({ id: 1, method: 'tools/call', params: { name: 'steps', _meta: { progressToken: 't' } } });
    for (const value of [1, 2, 3]) assert.equal((await host.receive()).params.progress, value);
    assert.equal(textOf(await host.receive()), 'done');
  });

  for (const sdk of sdks) {
    test(`is a failed result for ${sdk.name}`, async () => {
      connectModern('slow'); // for afterEach
      const { client, call } = await connectClient(sdk, daemon.throughCell('slow'));
      try {
        const result = await call('hold');
        assert.equal(result.isError, true);
        assert.equal(result._meta['cellblock/error'].code, 'timeout');
      } finally {
        await client.close();
      }
    });
  }
});

describe('a call whose cell crashes', () => {
  test('is made again where the tool is idempotent, so often and no more', async () => {
    connectModern('fragile');
    const answer = await host.ask('tools/call', { name: 'ok', arguments: {}, _meta: envelope });
    assert.equal(textOf(answer), 'ok');
    const failed = await host.ask('tools/call', { name: 'die', arguments: {}, _meta: envelope });
    assert.equal(failureOf(failed).code, 'server_failed');
    const again = await host.ask('tools/call', { name: 'ok', arguments: {}, _meta: envelope });
    assert.equal(textOf(again), 'ok');
    const log = fs.readFileSync(path.join(daemon.directory, 'audit.log'), 'utf8').split('\n').filter(Boolean)
      .map((line) => JSON.parse(line)).filter(({ tool, kind }) => tool === 'die' && kind === 'call');
    assert.equal(log.length, 3);
  });
});
