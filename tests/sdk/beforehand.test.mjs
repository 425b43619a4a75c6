// An administrator allows the next call of a tool before it is asked for.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import { connect, sdks } from './support/clients.mjs';
import { Daemon, hostId } from './support/daemon.mjs';
import { declareMock, said } from './support/mock.mjs';

const run = promisify(execFile);
const daemon = new Daemon();
const isRoot = process.getuid() === 0;
const [v1] = sdks;

// Root decides for users; without root one decides for oneself.
async function approve(...args) {
  const program = path.join(daemon.directory, 'bin', 'cellblock');
  const whose = isRoot ? ['--for', `${hostId}`] : [];
  const { stdout } = await run(program, ['approve', ...args, ...whose], { env: { CELLBLOCK_SOCKET: daemon.socket } });
  return stdout;
}

const refusal = async (promise) => {
  const error = await promise.then(() => undefined, (failed) => failed);
  return `${error?.stderr}`;
};

before(async () => {
  const asks = '[[server.mock.rule]]\neffect = "ask"\nusers = [' + (isRoot ? hostId : process.getuid()) + ']\ntools = ["push"]\napprover = "admin"\napproval_timeout = "5s"';
  declareMock(daemon, 'mock', { 'tools/call': [{ answer: said('pushed') }] }, ['era = "legacy"', 'pin = "off"', asks]);
  daemon.more = '[[flows.rule]]\nafter = ["untrusted"]\nbefore = ["destructive"]\ntools = ["remove"]\neffect = "ask"\n';
  await daemon.start();
});
after(() => daemon.stop());

test('Without a gateway it says that the user is not connected', { skip: !isRoot }, async () => {
  assert.match(await refusal(approve('next', 'mock/push')), /has none now|is not connected/);
});

test('The next call goes through without waiting, and the one after it does not', async () => {
  const { client, call } = await connect(v1, daemon.throughCell('mock'));
  try {
    assert.match(await approve('next', 'mock/push', '--within', '1h'), /^allowed beforehand: the next push of mock by .*, within 3600 s, whatever its arguments\n/);
    assert.equal((await call('push', {})).content[0].text, 'pushed');
    const second = await call('push', {});
    assert.ok(second.isError);
    assert.match(second.content[0].text, /nobody gave one in time/);
    // Its record is written after those of what was decided.
    assert.equal((await call('other', {})).content[0].text, 'pushed');
  } finally {
    await client.close();
  }
  const by = isRoot ? 0 : process.getuid();
  const reasons = daemon.auditLines().filter(({ kind }) => kind === 'approval').map(({ reason }) => reason);
  assert.deepEqual(reasons, [`next within 3600 s by uid ${by}`, `allowed beforehand by uid ${by}`, 'asked', 'expired']);
});

test('What is no tool of a server, or too long a time, is refused', async () => {
  for (const word of ['mock', 'mock/*']) assert.match(await refusal(approve('next', word)), /SERVER\/TOOL/, word);
  assert.match(await refusal(approve('next', 'nothing/push')), /nothing/);
  for (const time of ['25h', '2d']) {
    assert.match(await refusal(approve('next', 'mock/push', '--within', time)), /allowed: 1ms to 24h/, time);
  }
});

test('A tool about which no rule asks an administrator is refused, since nothing would use the approval', async () => {
  const { client } = await connect(v1, daemon.throughCell('mock'));
  try {
    const error = await approve('next', 'mock/other').then(() => undefined, (failed) => failed);
    assert.match(`${error?.stderr}`, /no rule asks an administrator about mock\/other for this user/);
    assert.equal(error.code, 4);
    assert.match(await approve('next', 'mock/push', '--within', '1d'), /within 86400 s/);
    assert.match(await approve('next', 'mock/remove'), /the next remove of mock/, 'flows.rule[1] may ask about it');
  } finally {
    await client.close();
  }
});

test('A number that no call can have is refused as one, and not looked for among the servers', async () => {
  for (const id of ['0', '1000.', '.3', '0x3', '1000.3.2', '99999999999999999999999']) {
    assert.match(await refusal(approve('show', id)), /is no call and no definition: .*as UID\.NUMBER and SERVER\/NAME/, id);
  }
  assert.match(await refusal(approve('deny', 'mock')), /"mock" is no call, .*; a definition is not denied/);
});
