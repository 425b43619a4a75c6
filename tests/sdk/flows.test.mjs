// After untrusted content and private data came together, a call that can send is refused, whatever server it is of.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { Daemon } from './support/daemon.mjs';
import { declareMock, said } from './support/mock.mjs';

const daemon = new Daemon();
const [v1] = sdks;
const note = 'the account is DE89370400440532013000';
const lines = ['era = "legacy"', 'pin = "off"'];

before(async () => {
  const secret = path.join(daemon.directory, 'api-key');
  fs.writeFileSync(secret, 'an-api-key-of-the-notes\n', { mode: 0o600 });
  if (process.getuid() === 0) fs.chownSync(secret, 64001, 64001);
  declareMock(daemon, 'notes', { 'tools/call': [{ answer: said(note) }] }, [...lines, `env_from_file = { KEY = "${secret}" }`]);
  declareMock(daemon, 'web', { 'tools/call': [{ answer: said('page') }] },
    [...lines, 'network = "egress"', 'egress = { allow = ["www.example.com:443"] }', 'flows = { untrusted = ["get"], private = [], egress = ["post"], destructive = ["remove"] }']);
  daemon.more = '[flows]\ntrifecta = "deny"\n[[flows.rule]]\nafter = ["private"]\nbefore = ["destructive"]\ncopied = true\neffect = "deny"\n';
  await daemon.start();
});
after(() => daemon.stop());

function opened(name, context) {
  const through = daemon.throughCell(name);
  return connect(v1, context ? { ...through, args: [...through.args, '--label', `context=${context}`] } : through);
}

test('A call that sends is made while only one of the two was read', async () => {
  const web = await opened('web', 'harmless');
  assert.equal((await web.call('get', {})).content[0].text, 'page');
  assert.equal((await web.call('post', {})).content[0].text, 'page');
  await web.client.close();
});

test('It is refused after both, of another session and another server, and says what brought them', async () => {
  const [notes, web] = [await opened('notes'), await opened('web')];
  await notes.call('read', {});
  await web.call('get', {});
  const answer = await web.call('post', {});
  assert.ok(answer.isError);
  assert.match(answer.content[0].text, /untrusted content came from "get" of web .* private data from "read" of notes/);
  // What sends nothing goes on.
  assert.equal((await notes.call('read', {})).content[0].text, note);
  await Promise.all([notes.client.close(), web.client.close()]);
  const flows = daemon.auditLines().filter(({ kind }) => kind === 'flow').map(({ server, tool, reason, outcome }) => [server, tool, reason, outcome].join(' '));
  for (const expected of ['notes read private none', 'web get untrusted none', 'web post flows.trifecta denied']) {
    assert.ok(flows.includes(expected), `${expected} in ${flows}`);
  }
});

test('A host that comes back has forgotten nothing, and one of another context knows nothing of it', async () => {
  const again = await opened('web');
  assert.ok((await again.call('post', {})).isError);
  const other = await opened('web', 'other');
  assert.equal((await other.call('post', {})).content[0].text, 'page');
  await Promise.all([again.client.close(), other.client.close()]);
});

test('A rule with copied refuses a call that repeats an answer, also encoded, and lets others pass', async () => {
  const [notes, web] = [await opened('notes', 'copies'), await opened('web', 'copies')];
  assert.equal((await notes.call('read', {})).content[0].text, note);
  assert.equal((await web.call('remove', { name: 'drafts' })).content[0].text, 'page');
  for (const name of ['de89370400440532013000', Buffer.from(note).toString('base64'), Buffer.from(note).toString('hex')]) {
    const answer = await web.call('remove', { name });
    assert.ok(answer.isError, name);
    assert.match(answer.content[0].text, /it can delete or overwrite, after private data came from "read" of notes .*may repeat what was read \(flows\.rule\[1\]\)/);
  }
  await Promise.all([notes.client.close(), web.client.close()]);
});
