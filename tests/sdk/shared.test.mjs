// Two sessions of one user on one cell: whatever ids and tokens they choose, each hears only what is its
// own.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';

import { Daemon } from './support/daemon.mjs';
import { declareMock, said, textOf } from './support/mock.mjs';
import { RawHost } from './support/raw_host.mjs';

const ok = { answer: said('ok') };
const uri = 'mock://watched';
const progressOf = (name) =>
  ({ send: { method: 'notifications/progress', params: { progressToken: '$token', progress: 1 } }, of: name });
const rules = {
  'tools/call hold_a': [{ hold: 'a' }],
  'tools/call hold_b': [{ hold: 'b' }],
  'tools/call progress': [progressOf('b'), progressOf('a'), ok],
  'tools/call release': [{ answer: said('for b'), to: 'b' }, { answer: said('for a'), to: 'a' }, ok],
  'tools/call log': [{ send: { method: 'notifications/message', params: { level: 'info', data: 'whose?' } } }, ok],
  'tools/call ask': [{ send: { id: 'q', method: 'roots/list', params: {} } }, ok],
  'tools/call update': [{ send: { method: 'notifications/resources/updated', params: { uri } } }, ok],
  'tools/call change': [{ send: { method: 'notifications/prompts/list_changed' } }, ok],
  'tools/call crash': [{ exit: 1 }],
  'prompts/list': [{ answer: { prompts: [], nextCursor: 'page 2' } }],
  'resources/subscribe': [{ answer: {} }],
  'resources/unsubscribe': [{ answer: {} }],
};

const daemon = new Daemon();
before(async () => {
  declareMock(daemon, 'shared', rules, ['cells = "per-user"']);
  await daemon.start();
});
after(() => daemon.stop());

let a;
let b;
beforeEach(async () => {
  [a, b] = [new RawHost(daemon.throughCell('shared')), new RawHost(daemon.throughCell('shared'))];
  await Promise.all([a.open(), b.open()]);
});
// The cell lives on while there is a session, so a test's state must not reach the next one.
afterEach(async () => {
  await Promise.all([a.close(), b.close()]);
  await daemon.command('stop', 'shared');
});

const hold = (host, name, progressToken = 'token') =>
  host.send({ id: 7, method: 'tools/call', params: { name, _meta: { progressToken } } });
const held = async () => {
  hold(a, 'hold_a');
  hold(b, 'hold_b');
  // Whatever a session says is in order: these answers mean that the server has both calls.
  await Promise.all([a.ask('resources/subscribe', { uri: 'mock://a' }), b.ask('resources/subscribe', { uri: 'mock://b' })]);
};

test('they have one process', async () => {
  await a.call('log');
  const seen = await b.seen();
  assert.ok(seen.some(({ params }) => params?.name === 'log'));
  assert.equal(seen.filter(({ method }) => method === 'initialize').length, 1);
});

test('answers and progress find the session that asked, though ids and tokens are the same', async () => {
  await held();
  b.send({ id: 8, method: 'tools/call', params: { name: 'progress' } });
  for (const host of [a, b]) {
    assert.deepEqual((await host.receive()).params, { progressToken: 'token', progress: 1 });
  }
  assert.equal(textOf(await b.receive()), 'ok');
  b.send({ id: 9, method: 'tools/call', params: { name: 'release' } });
  const [forA, forB] = [await a.receive(), await b.receive()];
  assert.deepEqual([forA.id, textOf(forA), forB.id, textOf(forB)], [7, 'for a', 7, 'for b']);
  assert.equal(textOf(await b.receive()), 'ok');
});

test('a cancellation cancels only the call of its own session', async () => {
  await held();
  a.send({ method: 'notifications/cancelled', params: { requestId: 7 } });
  await a.ask('resources/subscribe', { uri: 'mock://a' });
  b.send({ id: 9, method: 'tools/call', params: { name: 'release' } });
  const forB = await b.receive();
  assert.deepEqual([forB.id, textOf(forB)], [7, 'for b']);
  assert.equal(textOf(await b.receive()), 'ok');
  assert.deepEqual((await a.ask('ping')).result, {});
});

test('a session that leaves takes only its own calls along', async () => {
  await held();
  await a.close();
  b.send({ id: 9, method: 'tools/call', params: { name: 'release' } });
  const forB = await b.receive();
  assert.deepEqual([forB.id, textOf(forB)], [7, 'for b']);
  assert.equal(textOf(await b.receive()), 'ok');
});

test('log messages reach nobody: they name no request', async () => {
  assert.equal(textOf(await a.call('log')), 'ok');
  assert.deepEqual((await b.ask('ping')).result, {});
});

test('questions of the server reach nobody, and it is told so', async () => {
  assert.equal(textOf(await a.call('ask')), 'ok');
  let answer;
  while (answer === undefined) answer = (await b.seen()).find(({ id, error }) => id === 'q' && error);
  assert.equal(answer.error.code, -32601);
});

test('updates reach whoever subscribed', async () => {
  await a.ask('resources/subscribe', { uri });
  a.send({ id: 1, method: 'tools/call', params: { name: 'update' } });
  assert.equal((await a.receive()).method, 'notifications/resources/updated');
  assert.equal(textOf(await a.receive()), 'ok');
  assert.deepEqual((await b.ask('ping')).result, {});
});

test('a list change reaches each session once', async () => {
  a.send({ id: 1, method: 'tools/call', params: { name: 'change' } });
  for (const host of [a, b]) {
    assert.equal((await host.receive()).method, 'notifications/prompts/list_changed');
  }
  assert.equal(textOf(await a.receive()), 'ok');
  assert.deepEqual((await b.ask('ping')).result, {});
});

test('a cursor of one session is none in the other', async () => {
  const cursor = (await a.ask('prompts/list', {})).result.nextCursor;
  assert.equal((await b.ask('prompts/list', { cursor })).error.code, -32602);
  assert.equal((await a.ask('prompts/list', { cursor })).result.nextCursor !== undefined, true);
  const asked = (await b.seen()).filter(({ method }) => method === 'prompts/list');
  assert.deepEqual(asked.map(({ params }) => params.cursor), [undefined, 'page 2']);
});

test('the server is subscribed while somebody is', async () => {
  const subscriptions = async () => (await a.seen()).filter(({ method, params }) =>
    method?.startsWith('resources/') && params.uri === uri).map(({ method }) => method);
  await a.ask('resources/subscribe', { uri });
  await b.ask('resources/subscribe', { uri });
  await a.ask('resources/unsubscribe', { uri });
  assert.deepEqual(await subscriptions(), ['resources/subscribe']);
  await b.ask('resources/unsubscribe', { uri });
  assert.deepEqual(await subscriptions(), ['resources/subscribe', 'resources/unsubscribe']);
});

test('a server that dies fails the calls of both', async () => {
  await held();
  a.send({ id: 'c', method: 'tools/call', params: { name: 'crash' } });
  for (const [host, ids] of [[a, [7, 'c']], [b, [7]]]) {
    for (const id of ids) {
      const { result, ...rest } = await host.receive();
      assert.deepEqual([rest.id, result.isError], [id, true]);
    }
  }
});
