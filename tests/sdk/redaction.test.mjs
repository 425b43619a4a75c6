// A secret that a server was given does not come back to its host in any of its usual forms, and what the
// admin does not want sent is not sent.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { Daemon } from './support/daemon.mjs';
import { declareMock, said, textOf } from './support/mock.mjs';
import { RawHost } from './support/raw_host.mjs';

const daemon = new Daemon();
const secret = 'tok/en+with "quotes" and=more&12345';
// Not its first four digits alone: ids and hashes have those by chance.
const card = /4111[ -]?1111/;
const base64 = (before) => Buffer.from(`${before}${secret}`).toString('base64');

function writeSecret() {
  const file = path.join(daemon.directory, 'token-of-mock');
  fs.writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  return file;
}

const answers = {
  plain: said(`it is ${secret}.`),
  base64: said([0, 1, 2].map((length) => base64('x'.repeat(length))).join(' ')),
  url: said(`https://host.example/?t=${encodeURIComponent(secret)}&x=1`),
  json: said(JSON.stringify({ inner: secret })),
  structured: { ...said('see'), structuredContent: { deep: [{ [secret]: secret }] } },
  person: { ...said('see'), structuredContent: { patient: { mrn: 123456, dob: '1980-02-29', height: 180 } } },
  fine: said('nothing \\ "here"'),
};

before(async () => {
  const rules = Object.fromEntries(Object.entries(answers).map(([name, answer]) => [`tools/call ${name}`, [{ answer }]]));
  rules['tools/call noisy'] = [
    { send: { method: 'notifications/message', params: { level: 'info', data: { said: secret } } } }, { answer: said('done') }];
  rules['tools/call broken'] = [{ error: { code: -32000, message: `cannot log in with ${secret}`, data: base64('') } }];
  rules['tools/call complains'] = [{ stderr: `no such token: ${secret}\n` }, { answer: said('done') }];
  declareMock(daemon, 'mock', rules, ['era = "legacy"', `env_from_file = { TOKEN = "${writeSecret()}" }`,
    'redaction = { phi = { to_host = "redact" }, detectors = { card = { to_server = "block", to_host = "log" } } }']);
  await daemon.start();
});
after(() => daemon.stop());

async function withHost(body) {
  const host = new RawHost(daemon.throughCell('mock'));
  try {
    await host.open();
    return await body(host);
  } finally {
    await host.close();
  }
}
const call = (name, args) => withHost((host) => host.call(name, args));

describe('redaction', () => {
  test('a secret is taken out of a text as it is', async () => {
    assert.equal(textOf(await call('plain')), 'it is [redacted: TOKEN].');
  });

  test('and in base64 at each of its places, and URL-escaped', async () => {
    const text = textOf(await call('base64'));
    assert.equal(text.split('[redacted: TOKEN]').length, 4);
    assert.ok(text.length < 80, text);
    assert.equal(textOf(await call('url')), 'https://host.example/?t=[redacted: TOKEN]&x=1');
  });

  test('and in JSON within JSON, which stays JSON', async () => {
    assert.deepEqual(JSON.parse(textOf(await call('json'))), { inner: '[redacted: TOKEN]' });
  });

  test('and in keys and values of structured content', async () => {
    const answer = await call('structured');
    assert.deepEqual(answer.result.structuredContent, { deep: [{ '[redacted: TOKEN 1]': '[redacted: TOKEN]' }] });
  });

  test('and in notifications and errors', async () => {
    await withHost(async (host) => {
      host.send({ id: 7, method: 'tools/call', params: { name: 'noisy', arguments: {} } });
      assert.deepEqual((await host.receive()).params.data, { said: '[redacted: TOKEN]' });
      assert.equal(textOf(await host.receive()), 'done');
    });
    const { error } = await call('broken');
    assert.equal(error.message, 'cannot log in with [redacted: TOKEN]');
    assert.match(error.data, /^\[redacted: TOKEN\]=*$/);
  });

  test('a label is the name of the member that has the value', async () => {
    assert.deepEqual((await call('person')).result.structuredContent.patient,
      { mrn: '[redacted: medical_record]', dob: '[redacted: date_of_birth]', height: 180 });
  });

  test('what has nothing in it passes as it is', async () => {
    assert.equal(textOf(await call('fine')), 'nothing \\ "here"');
  });

  test('a card number in arguments is not sent', async () => {
    await withHost(async (host) => {
      const answer = await host.call('fine', { note: 'pay 4111 1111 1111 1111' });
      assert.equal(answer.result.isError, true);
      assert.equal(answer.result._meta['cellblock/error'].code, 'blocked');
      assert.match(textOf(answer), /card 1/);
      assert.doesNotMatch(JSON.stringify(answer), card);
      const seen = textOf(await host.call('seen'));
      assert.doesNotMatch(seen, card);
    });
  });

  test('stderr shows no secret, status counts, and the log has the name and not the text', async () => {
    await call('complains');
    const logs = await daemon.command('logs', 'mock');
    assert.match(logs, /no such token: \[redacted: TOKEN\]/);
    const { found } = JSON.parse(await daemon.command('status', '--json')).servers.find(({ name }) => name === 'mock');
    assert.equal(found.to_server.card, 1);
    assert.ok(found.to_host.TOKEN > 5);
    const audit = fs.readFileSync(path.join(daemon.directory, 'audit.log'), 'utf8');
    assert.match(audit, /"finding"/);
    assert.match(audit, /"TOKEN"/);
    assert.doesNotMatch(audit, /quotes/);
    assert.doesNotMatch(audit, card);
  });
});
