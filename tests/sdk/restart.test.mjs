// Servers that fail and when they are started again, and one that is switched off.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { Daemon } from './support/daemon.mjs';
import { declareMock, said, setRules, textOf } from './support/mock.mjs';
import { RawHost } from './support/raw_host.mjs';

const daemon = new Daemon();
const broken = { initialize: [{ stderr: 'no database\n' }, { exit: 3 }] };
const mended = { 'tools/call ok': [{ answer: said('ok') }] };
const died = 'exited with code 3 before it answered';

before(async () => {
  const legacy = 'era = "legacy"';
  declareMock(daemon, 'paused', broken, [legacy, 'restart = { pause = "100ms", patience = "5m" }']);
  declareMock(daemon, 'rested', broken, [legacy, 'restart = { pause = "0ms", failures = 2, rest = "1h" }']);
  declareMock(daemon, 'never', broken, [legacy, 'restart = { when = "never" }']);
  declareMock(daemon, 'off', mended, ['enabled = false']);
  await daemon.start();
});
after(() => daemon.stop());

async function introduced(server, talk = () => {}) {
  const host = new RawHost(daemon.throughCell(server));
  try {
    const clientInfo = { name: 'raw', version: '1' };
    const answer = await host.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    if (answer.result) host.send({ method: 'notifications/initialized' });
    await talk(host);
    return answer;
  } finally {
    await host.close();
  }
}

const worksAgain = (server) => introduced(server, async (host) => assert.equal(textOf(await host.call('ok')), 'ok'));

async function row(server) {
  const { servers } = JSON.parse(await daemon.command('status', '--json'));
  return servers.find(({ name }) => name === server);
}

describe('a server that failed and was mended', () => {
  test('starts for the next host, which waits for the end of the pause', async () => {
    const { error } = await introduced('paused');
    assert.match(error.message, new RegExp(died));
    setRules(daemon, 'paused', mended);
    await worksAgain('paused');
    assert.equal((await row('paused')).life.state, 'good');
  });
});

describe('a server that failed as often as it may', () => {
  test('is not started until its rest is over, and the last cause is told', async () => {
    for (let i = 0; i < 2; ++i) assert.match((await introduced('rested')).error.message, new RegExp(died));
    const { error } = await introduced('rested');
    assert.match(error.message, /^server "rested" failed 2 times in a row; it may start again in \w+; the last time: /);
    assert.match(error.message, new RegExp(died));
    assert.equal(error.data.code, 'server_failed');
    assert.match(error.data.cause, new RegExp(died));
    assert.ok(error.data.retry_after_ms > 0);
    const { state, life } = await row('rested');
    assert.deepEqual([state, life], ['failed', { state: 'resting', failures: 2 }]);
  });

  test('starts at once when its user says so', async () => {
    setRules(daemon, 'rested', mended);
    await daemon.command('restart', 'rested');
    await worksAgain('rested');
  });
});

describe('a server that is never to be started again after a failure', () => {
  test('is quarantined by its first one, until its user says otherwise', async () => {
    assert.match((await introduced('never')).error.message, new RegExp(died));
    setRules(daemon, 'never', mended);
    const { error } = await introduced('never');
    assert.match(error.message, /failed once and is not started any more until `cellblock restart never`/);
    assert.equal((await row('never')).state, 'quarantined');
    await daemon.command('restart', 'never');
    await worksAgain('never');
  });
});

describe('a server that is switched off by its declaration', () => {
  test('is refused to its users, and shown as disabled', async () => {
    const { error } = await introduced('off');
    assert.equal(error.data.code, 'disabled');
    assert.equal(error.message, 'server "off" is switched off by its declaration (enabled = false)');
    assert.equal((await row('off')).state, 'disabled');
  });
});
