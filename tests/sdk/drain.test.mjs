// What becomes of calls in flight when cellblockd is told to stop.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';

import { Daemon } from './support/daemon.mjs';
import { declareMock, said, textOf } from './support/mock.mjs';
import { RawHost } from './support/raw_host.mjs';

const progress = { method: 'notifications/progress', params: { progressToken: '$token', progress: 1 } };
const rules = {
  'tools/call slow': [{ hold: 'slow' }, { send: progress }],
  'notifications/roots/list_changed': [{ to: 'slow', answer: said('late, but here') }],
};

// A host with a call that its server has, and whose answer is missing.
async function waiting(daemon) {
  const host = new RawHost(daemon.throughCell('slow'));
  await host.open();
  host.send({ id: 'slow', method: 'tools/call', params: { name: 'slow', arguments: {}, _meta: { progressToken: 't' } } });
  assert.equal((await host.receive()).method, 'notifications/progress');
  return host;
}

function stopping(daemon) {
  const ended = once(daemon.process, 'exit');
  daemon.process.kill('SIGTERM');
  return ended;
}

describe('a daemon that is told to stop and has time for answers', () => {
  const daemon = new Daemon();
  before(async () => {
    declareMock(daemon, 'slow', rules, ['era = "legacy"']);
    daemon.daemonLines = 'drain = "25s"\n';
    await daemon.start();
  });
  after(() => daemon.stop());

  test('waits for the answer, and ends when it has come', async () => {
    const host = await waiting(daemon);
    const ended = stopping(daemon);
    host.send({ method: 'notifications/roots/list_changed' });
    const answer = await host.receive();
    assert.equal(answer.id, 'slow');
    assert.equal(textOf(answer), 'late, but here');
    assert.deepEqual(await ended, [0, null]);
    await host.close();
  });
});

describe('a daemon that is told to stop and waits for nobody', () => {
  const daemon = new Daemon();
  before(async () => {
    declareMock(daemon, 'slow', rules, ['era = "legacy"']);
    daemon.daemonLines = 'drain = "0s"\n';
    await daemon.start();
  });
  after(() => daemon.stop());

  test('fails the call at once', async () => {
    const host = await waiting(daemon);
    const ended = stopping(daemon);
    const answer = await host.receive();
    assert.equal(answer.id, 'slow');
    assert.match(JSON.stringify(answer), /shutting down/);
    assert.deepEqual(await ended, [0, null]);
    await host.close();
  });
});
