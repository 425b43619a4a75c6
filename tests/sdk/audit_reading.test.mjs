// The audit log for whoever ships and checks it: from a line on, past what has made room, and by an anchor in a file.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import { Daemon } from './support/daemon.mjs';
import { declareMock, said } from './support/mock.mjs';
import { RawHost } from './support/raw_host.mjs';

const run = promisify(execFile);
const daemon = new Daemon();
const log = path.join(daemon.directory, 'audit.log');
const program = path.join(daemon.directory, 'bin', 'cellblock');
const env = { CELLBLOCK_SOCKET: daemon.socket, PATH: '/usr/bin:/bin', TZ: 'UTC', ASAN_OPTIONS: 'detect_leaks=0' };

// As whoever owns the log.
async function audit(...args) {
  const ran = await run(program, ['audit', ...args, '--log', log], { env, maxBuffer: 1 << 28 }).catch((error) => error);
  return { code: ran.code ?? 0, out: ran.stdout, err: ran.stderr };
}

const sequences = (text) => text.trim().split('\n').filter(Boolean).map((line) => JSON.parse(line).seq);

async function callMany(count) {
  const host = new RawHost(daemon.throughCell('mock'));
  await host.open();
  for (let i = 0; i < count; ++i) await host.call('ok', { i });
  await host.close();
}

before(async () => {
  daemon.more += '[audit]\nmax_bytes = "64KiB"\nkeep = 1\n[calls]\nuser = { rate = "10000/s", burst = 10000 }\n';
  declareMock(daemon, 'mock', { 'tools/call': [{ answer: said('ok') }] }, ['era = "legacy"', 'pin = "off"']);
  await daemon.start();
  await callMany(3);
});
after(() => daemon.stop());

test('A server that no record names is said to be none, with the nearest that one names', async () => {
  for (const more of [[], ['--since', '1h'], ['--json']]) {
    const { code, out, err } = await audit('--server', 'mok', ...more);
    assert.equal(out, '');
    assert.match(err, /no record of this log names a server "mok"; did you mean "mock"\?; `cellblock status` lists/);
    assert.equal(code, 0);
  }
  assert.equal((await audit('--server', 'mock', '--tool', 'never')).err, '', 'a server that is known');
});

test('Lines behind one are all of them, each once, and then each new one', async () => {
  const all = sequences((await audit('--json', '--after', '0')).out);
  assert.deepEqual(all, all.map((_, index) => index + 1));
  const { out } = await audit('--json', '--after', '2');
  assert.equal(sequences(out)[0], 3);
  const follower = spawn(program, ['audit', '--json', '-f', '--after', `${all.at(-1)}`, '--log', log], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const heard = [];
  const enough = new Promise((resolve) => {
    createInterface({ input: follower.stdout }).on('line', (line) => {
      heard.push(JSON.parse(line).seq);
      if (heard.length === 4) resolve();
    });
  });
  await callMany(2);
  await enough;
  follower.kill();
  assert.deepEqual(heard.slice(0, 4), [1, 2, 3, 4].map((step) => all.at(-1) + step));
});

test('Each line is one event of the schema that is asked for, and what is no record is told', async () => {
  const all = sequences((await audit('--json', '--after', '0')).out);
  // The end of a session may be recorded meanwhile.
  const events = async (form) => (await audit('--format', form, '--after', '0')).out.trim().split('\n').slice(0, all.length);
  const numbers = { ecs: ({ event }) => event.sequence, ocsf: ({ metadata }) => metadata.sequence };
  for (const [form, number] of Object.entries(numbers)) {
    assert.deepEqual((await events(form)).map((line) => number(JSON.parse(line))), all);
  }
  assert.deepEqual((await events('cef')).map((line) => Number(/ externalId=([0-9]+) /.exec(line)[1])), all);
  const both = await audit('--json', '--format', 'ecs');
  assert.equal(both.code, 2);
  assert.match(both.err, /leave --json out/);
  const copy = path.join(daemon.directory, 'junk.log');
  const records = fs.readFileSync(log, 'utf8');
  fs.writeFileSync(copy, `${records}no record\nnor this\n`);
  const { stdout, stderr } = await run(program, ['audit', '--format', 'ecs', '-n', '1000', '--log', copy], { env });
  assert.equal(stdout.split('\n').length, records.split('\n').length);
  assert.equal(stderr, 'cellblock: what is no record of the log was left out\n');
});

test('A log that does not go so far is an error, since it was begun anew', async () => {
  const { code, err } = await audit('--json', '--after', '999999');
  assert.notEqual(code, 0);
  assert.match(err, /the log ends with line [0-9]+, before line 999999: it was begun anew/);
});

test('An anchor in a file is kept from one check to the next, and tells when lines were cut off', async () => {
  const anchor = path.join(daemon.directory, 'anchor');
  assert.equal((await audit('verify', '--anchor-file', anchor)).code, 0);
  const first = fs.readFileSync(anchor, 'utf8');
  await callMany(1);
  assert.equal((await audit('verify', '--anchor-file', anchor)).code, 0);
  assert.notEqual(fs.readFileSync(anchor, 'utf8'), first);
  const kept = fs.readFileSync(anchor, 'utf8');
  const whole = fs.readFileSync(log, 'utf8');
  const copy = path.join(daemon.directory, 'cut.log');
  fs.writeFileSync(copy, whole.split('\n').slice(0, 3).join('\n') + '\n');
  const cut = await run(program, ['audit', 'verify', '--anchor-file', anchor, '--log', copy], { env }).catch((error) => error);
  assert.equal(cut.code, 10);
  assert.equal(fs.readFileSync(anchor, 'utf8'), kept, 'the anchor of a broken log is no anchor');
  fs.writeFileSync(anchor, '');
  const empty = await audit('verify', '--anchor-file', anchor);
  assert.equal(empty.code, 2);
  assert.match(empty.err, /an anchor is what an earlier/);
});

test('A signed anchor is checked elsewhere with the public key alone, and what is wrong with it is told', async () => {
  const at = (name) => path.join(daemon.directory, name);
  const [key, publicKey, anchors] = [at('key.pem'), at('public.pem'), at('signed')];
  const pair = generateKeyPairSync('ed25519');
  fs.writeFileSync(key, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  fs.writeFileSync(publicKey, pair.publicKey.export({ type: 'spki', format: 'pem' }));
  for (const count of [1, 2]) {
    await callMany(1);
    const { code, out, err } = await audit('verify', '--sign', key, '--anchor-file', anchors);
    assert.equal(code, 0, err);
    assert.equal(fs.readFileSync(anchors, 'utf8').trim().split('\n').length, count);
    assert.ok(out.includes(fs.readFileSync(anchors, 'utf8').trim().split('\n').at(-1)), 'the report has it too');
  }
  const elsewhere = (...args) => run(program, ['audit', 'verify', '--anchor-file', anchors, '--public-key', ...args], { env }).catch((error) => error);
  const checked = await elsewhere(publicKey, '--json');
  assert.equal(JSON.parse(checked.stdout).signed_anchors, 2);
  assert.equal(JSON.parse(checked.stdout).log_compared, false);
  assert.match((await elsewhere(publicKey, '--log', log)).stdout, /^whole: .*\n2 anchors signed by key [0-9a-f]{16}\n$/s);

  const other = at('other.pem');
  fs.writeFileSync(other, generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }));
  const wrong = await elsewhere(other);
  assert.equal(wrong.code, 10);
  assert.match(wrong.stdout, /signed:1\n {2}broken: it names another key: /);
  fs.writeFileSync(other, generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' }));
  assert.match((await elsewhere(other)).stderr, /--public-key: .*other\.pem: the key's type is RSA: only Ed25519 is taken/);

  const empty = at('empty.log');
  fs.writeFileSync(empty, '');
  assert.match((await elsewhere(publicKey, '--log', empty)).stdout, /empty\.log:0\n {2}broken: the line with seq \d+ that the anchor names is not there/);

  const plain = await audit('verify', '--anchor-file', anchors);
  assert.equal(plain.code, 2);
  assert.match(plain.err, /it has signed anchors: --sign KEY adds one/, 'and none of them is lost');
  fs.chmodSync(key, 0o644);
  const open = await audit('verify', '--sign', key);
  assert.equal(open.code, 2);
  assert.match(open.err, /--sign: .*key\.pem: other users have access to this private key \(mode 0644\)/);
  if (process.getuid() !== 0) return;
  fs.chmodSync(key, 0o600);
  fs.chownSync(key, 1001, 1001);
  const foreign = await audit('verify', '--sign', key);
  assert.equal(foreign.code, 2);
  assert.match(foreign.err, /--sign: .*key\.pem: this private key belongs to another user \(uid 1001\)/);
});

test('An option of verify that is empty is a usage error, and leaves no check out', async () => {
  for (const option of ['--anchor', '--anchor-file', '--sign', '--public-key']) {
    const { code, err } = await audit('verify', option, '');
    assert.equal(code, 2, option);
    assert.ok(err.includes(`${option}: it is empty`), err);
  }
  assert.equal(JSON.parse((await audit('verify', '--json', '--anchor', '1')).out).error.code, 'invalid_argument');
  const log = await run(program, ['audit', 'verify', '--log', ''], { env }).catch((error) => error);
  assert.equal(log.code, 2);
});

test('An anchor that cannot be kept says why', async () => {
  const { code, err } = await audit('verify', '--anchor-file', path.join(daemon.directory, 'missing', 'anchor'));
  assert.equal(code, 1);
  assert.match(err, /the anchor was not kept: .*missing\/anchor\.new: No such file or directory/);
});

test('What has made room is told to whoever wants it', async () => {
  await callMany(400);
  const { code, out, err } = await audit('--json', '--after', '1');
  assert.equal(code, 0, err);
  const first = sequences(out)[0];
  assert.ok(first > 2, `${first}`);
  assert.ok(err.includes(`lines 2 to ${first - 1} have made room for newer ones`), err);
});

test('Times are those of the zone with --local', async () => {
  const tokyo = await run(program, ['audit', '-n', '1', '--local', '--log', log], { env: { ...env, TZ: 'Asia/Tokyo' } });
  assert.match(tokyo.stdout, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+0900 /);
  const today = await audit('--since', 'today', '--local', '--json');
  assert.ok(sequences(today.out).length > 0);
});

test('A span that ends before it begins is refused, and one day is a span', async () => {
  const turned = await audit('--since', '2026-11-22', '--until', '2026-11-21');
  assert.equal(turned.code, 2);
  assert.match(turned.err, /--until names a time before that of --since/);
  assert.equal((await audit('--since', '2h', '--until', '1h')).code, 0);
  assert.equal((await audit('--since', '2026-11-22T13', '--until', '2026-11-22')).code, 0);
});
