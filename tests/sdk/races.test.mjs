// What may cross on the wire: answers that come too late, twice or unasked, cancellations that meet
// their answers, a server that dies with calls in flight, streams that are opened again.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';

import { Daemon } from './support/daemon.mjs';
import { declareMock, said, textOf } from './support/mock.mjs';
import { RawHost, envelope, subscriptionKey } from './support/raw_host.mjs';

const daemon = new Daemon();
const progress = (value, of = {}) =>
  ({ send: { method: 'notifications/progress', params: { progressToken: '$token', progress: value } }, ...of });
const ok = { answer: said('ok') };

const rules = {
  'tools/call hold': [{ hold: 'call' }],
  'tools/call release': [{ answer: said('too late'), to: 'call' }, ok],
  'tools/call hold2': [{ hold: 'second' }],
  'tools/call swap': [{ answer: said('second'), to: 'second' }, { answer: said('first'), to: 'call' }, ok],
  'tools/call twice': [{ answer: said('once') }, { answer: said('twice') }],
  'tools/call foreign': [
    { send: { id: 987654321, result: said('of nobody') } }, { send: { id: '1', result: said('a string') } },
    { send: { id: 0, result: said('zero') } }, { send: { id: 987654321, error: { code: 1, message: 'no' } } }, ok,
  ],
  'tools/call late_progress': [progress(1), ok, progress(2)],
  'tools/call held_progress': [progress(1, { of: 'call' }), ok],
  'tools/call foreign_progress': [
    { send: { method: 'notifications/progress', params: { progressToken: 'nobody', progress: 1 } } },
    { send: { method: 'notifications/progress', params: { progressToken: 0, progress: 1 } } }, ok,
  ],
  'tools/call log': [{ send: { method: 'notifications/message', params: { level: 'info', data: 'a log' } } }, ok],
  'tools/call crash': [{ exit: 3 }],
  'tools/call abort': [{ raise: 'SIGKILL' }],
  'notifications/initialized': [],
};

function stream(method, params = {}) {
  return { send: { method, params: { ...params, _meta: { [subscriptionKey]: '$id' } } } };
}
const uri = 'mock://watched';
const updated = stream('notifications/resources/updated', { uri });
const listening = {
  'subscriptions/listen': [
    { hold: 'stream' },
    stream('notifications/subscriptions/acknowledged', { notifications: { resourceSubscriptions: [uri] } }),
  ],
  'tools/call update': [{ ...updated, of: 'stream' }, { answer: { resultType: 'complete', ...said('ok') } }],
  'tools/call end': [
    { answer: { resultType: 'complete', _meta: { [subscriptionKey]: 1 } }, to: 'stream' },
    { answer: { resultType: 'complete', ...said('ok') } },
  ],
};

const question = { mode: 'form', message: 'Why?', requestedSchema: { type: 'object', properties: {} } };
const asking = {
  'notifications/initialized': [{ send: { id: 'asked', method: 'elicitation/create', params: question } }],
};

const task = { taskId: 't-1', status: 'working', createdAt: '2026-01-01T00:00:00Z',
               lastUpdatedAt: '2026-01-01T00:00:00Z', ttl: null };
const tasks = {
  'tools/call begin': [{ send: { method: 'notifications/tasks/status', params: task } }, { answer: { task } }],
};

before(async () => {
  declareMock(daemon, 'races', rules);
  declareMock(daemon, 'streams', listening);
  declareMock(daemon, 'asking', asking, ['client_features = ["elicitation"]']);
  declareMock(daemon, 'curious', asking);
  declareMock(daemon, 'tasks', tasks);
  await daemon.start();
});
after(() => daemon.stop());

let host;
const connect = (server) => { host = new RawHost(daemon.throughCell(server)); };
afterEach(() => host.close());

describe('an answer', () => {
  beforeEach(() => { connect('races'); return host.open(); });

  test('to a cancelled call does not reach the host', async () => {
    host.send({ id: 1, method: 'tools/call', params: { name: 'hold' } });
    host.send({ method: 'notifications/cancelled', params: { requestId: 1 } });
    assert.equal(textOf(await host.call('release')), 'ok');
  });

  test('that comes twice reaches the host once', async () => {
    assert.equal(textOf(await host.call('twice')), 'once');
    assert.deepEqual((await host.ask('ping')).result, {});
  });

  test('to what nobody asked does not reach the host', async () => {
    assert.equal(textOf(await host.call('foreign', {}, 1)), 'ok');
    assert.equal(textOf(await host.call('foreign', {}, '1')), 'ok');
  });

  test('finds its call when others came in between, whatever type their ids have', async () => {
    host.send({ id: 7, method: 'tools/call', params: { name: 'hold' } });
    host.send({ id: '7', method: 'tools/call', params: { name: 'hold2' } });
    host.send({ id: 0, method: 'tools/call', params: { name: 'swap' } });
    assert.deepEqual([await host.receive(), await host.receive(), await host.receive()].map(
      (answer) => [answer.id, textOf(answer)]), [['7', 'second'], [7, 'first'], [0, 'ok']]);
  });

  test('under an id that is in flight twice cannot be: the second request is refused', async () => {
    host.send({ id: 'same', method: 'tools/call', params: { name: 'hold' } });
    host.send({ id: 'same', method: 'ping' });
    assert.equal((await host.receive()).error.code, -32600);
    const pings = (await host.seen()).filter(({ method }) => method === 'ping');
    assert.equal(pings.length, 0);
  });
});

describe('a cancellation', () => {
  beforeEach(() => { connect('races'); return host.open(); });

  test('that meets its answer is not passed on', async () => {
    await host.call('twice', {}, 'done');
    host.send({ method: 'notifications/cancelled', params: { requestId: 'done' } });
    const methods = (await host.seen()).map(({ method }) => method);
    assert.ok(!methods.includes('notifications/cancelled'), methods.join(' '));
  });

  test('of a call of nobody is not passed on', async () => {
    for (const requestId of [0, 1, '', 'x', null, -1]) {
      host.send({ method: 'notifications/cancelled', params: { requestId } });
    }
    host.send({ method: 'notifications/cancelled' });
    const methods = (await host.seen()).map(({ method }) => method);
    assert.ok(!methods.includes('notifications/cancelled'), methods.join(' '));
  });

  test('that comes twice is passed on once', async () => {
    host.send({ id: 'twice', method: 'tools/call', params: { name: 'hold' } });
    await host.seen(); // until a call is in the audit log, the server has not been sent it: nor its cancellation
    for (let times = 0; times < 2; times += 1) {
      host.send({ method: 'notifications/cancelled', params: { requestId: 'twice' } });
    }
    const seen = await host.seen();
    const cancelled = seen.filter(({ method }) => method === 'notifications/cancelled');
    assert.equal(cancelled.length, 1);
    assert.equal(cancelled[0].params.requestId, seen.find(({ params }) => params?.name === 'hold').id);
  });

  test('lets the host use the id again, for an answer of its own', async () => {
    host.send({ id: 5, method: 'tools/call', params: { name: 'hold' } });
    host.send({ method: 'notifications/cancelled', params: { requestId: 5 } });
    assert.equal(textOf(await host.call('release', {}, 5)), 'ok');
  });
});

describe('progress', () => {
  beforeEach(() => { connect('races'); return host.open(); });
  const ask = (name, id, progressToken) =>
    host.send({ id, method: 'tools/call', params: { name, _meta: { progressToken } } });

  test('comes under the token of the host, whatever type that has, and not after the end', async () => {
    for (const token of ['text', '', 0, -1, 2 ** 52]) {
      ask('late_progress', 'call', token);
      const { params } = await host.receive();
      assert.deepEqual(params, { progressToken: token, progress: 1 });
      assert.equal(textOf(await host.receive()), 'ok');
      assert.deepEqual((await host.ask('ping')).result, {});
    }
  });

  test('of a cancelled call does not reach the host', async () => {
    ask('hold', 'gone', 'token');
    host.send({ method: 'notifications/cancelled', params: { requestId: 'gone' } });
    assert.equal(textOf(await host.call('held_progress')), 'ok');
  });

  test('of nobody does not reach the host', async () => {
    assert.equal(textOf(await host.call('foreign_progress')), 'ok');
  });
});

describe('what a server says unasked', () => {
  test('reaches the host of its own cell as a log message', async () => {
    connect('races');
    await host.open();
    host.send({ id: 1, method: 'tools/call', params: { name: 'log' } });
    assert.equal((await host.receive()).params.data, 'a log');
    assert.equal(textOf(await host.receive()), 'ok');
  });

  test('reaches the host as a question, with nothing in flight, where that is allowed', async () => {
    connect('asking');
    await host.open({ elicitation: {} });
    const question = await host.receive();
    assert.equal(question.method, 'elicitation/create');
    host.send({ id: question.id, result: { action: 'decline' } });
    const answer = (await host.seen()).find(({ result }) => result);
    assert.deepEqual([answer.id, answer.result], ['asked', { action: 'decline' }]);
  });

  test('is refused as a question where that is not allowed', async () => {
    connect('curious');
    await host.open({ elicitation: {} });
    let answer;
    while (answer === undefined) answer = (await host.seen()).find(({ error }) => error); // it comes at once
    assert.deepEqual([answer.id, answer.error.code], ['asked', -32601]);
  });

  test('reaches the host as the status of a task that is only then created', async () => {
    connect('tasks');
    await host.open();
    host.send({ id: 1, method: 'tools/call', params: { name: 'begin', task: { ttl: null } } });
    const messages = [await host.receive(), await host.receive()];
    assert.ok(messages.some(({ method }) => method === 'notifications/tasks/status'));
    assert.ok(messages.some(({ result }) => result?.task));
  });
});

describe('a server that dies', () => {
  for (const way of ['crash', 'abort']) {
    test(`by ${way} fails every call in flight with the cause, and the session goes on`, async () => {
      connect('races');
      await host.open();
      host.send({ id: 'a', method: 'tools/call', params: { name: 'hold' } });
      host.send({ id: 'b', method: 'resources/read', params: { uri } });
      await host.receive(); // the mock has no such resource
      host.send({ id: 'c', method: 'tools/call', params: { name: 'hold2' } });
      host.send({ id: 'd', method: 'tools/call', params: { name: way } });
      const answers = [await host.receive(), await host.receive(), await host.receive()];
      assert.deepEqual(answers.map(({ id }) => id).sort(), ['a', 'c', 'd']);
      for (const { result } of answers) {
        assert.equal(result.isError, true);
        assert.equal(result._meta['cellblock/error'].code, 'server_failed');
      }
      assert.equal(textOf(await host.call('twice')), 'once');
    });
  }
});

describe('a stream of subscriptions', () => {
  const listen = (id) => host.send({ id, method: 'subscriptions/listen',
                                     params: { notifications: { resourceSubscriptions: [uri] }, _meta: envelope } });
  const call = async (name) => {
    const answer = await host.ask('tools/call', { name, _meta: envelope });
    assert.equal(textOf(answer), 'ok');
  };
  async function acknowledged(id) {
    const { method, params } = await host.receive();
    assert.equal(method, 'notifications/subscriptions/acknowledged');
    assert.equal(params._meta[subscriptionKey], id);
  }
  async function hearsUpdate(id) {
    host.send({ id: 'u', method: 'tools/call', params: { name: 'update', _meta: envelope } });
    const { method, params } = await host.receive();
    assert.deepEqual([method, params._meta[subscriptionKey]], ['notifications/resources/updated', id]);
    assert.equal(textOf(await host.receive()), 'ok');
  }
  beforeEach(() => connect('streams'));

  test('carries the id of the host, of either type', async () => {
    for (const id of ['listen', 0, 12]) {
      listen(id);
      await acknowledged(id);
      await hearsUpdate(id);
      host.send({ method: 'notifications/cancelled', params: { requestId: id, _meta: envelope } });
    }
  });

  test('is silent once it was cancelled, and may be opened again under the same id', async () => {
    listen('again');
    await acknowledged('again');
    host.send({ method: 'notifications/cancelled', params: { requestId: 'again', _meta: envelope } });
    await call('update');
    listen('again');
    await acknowledged('again');
    await hearsUpdate('again');
  });

  test('is refused under an id that is in flight', async () => {
    listen(3);
    await acknowledged(3);
    listen(3);
    assert.equal((await host.receive()).error.code, -32600);
    await hearsUpdate(3);
  });

  test('ends with the answer to its request', async () => {
    listen('ends');
    await acknowledged('ends');
    host.send({ id: 'e', method: 'tools/call', params: { name: 'end', _meta: envelope } });
    const end = await host.receive();
    assert.deepEqual([end.id, end.result.resultType], ['ends', 'complete']);
    assert.equal(textOf(await host.receive()), 'ok');
    await call('update');
  });
});
