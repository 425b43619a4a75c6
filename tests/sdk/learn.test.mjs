// What a declaration lacks, proposed by `cellblock learn` while the server is used.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { Daemon } from './support/daemon.mjs';

const daemon = new Daemon();
const project = daemon.makeProject('data');
const cellblock = path.join(daemon.directory, 'bin', 'cellblock');

function declare(readable) {
  const read = [path.join(daemon.directory, 'mcp'), ...readable];
  daemon.declare('files', '@modelcontextprotocol/server-filesystem', [project], [`read = ${JSON.stringify(read)}`]);
}

// All paths of the proposal's `read`.
const readOf = (toml) => [...(/^read = \[\n([^\]]*)/m.exec(toml)?.[1] ?? '').matchAll(/^ {2}"([^"]*)"/gm)]
  .map(([, entry]) => entry);

const session = ['--', cellblock, 'call', 'files', 'list_directory', `path=${project}`];

before(async () => {
  fs.writeFileSync(path.join(project, 'notes.txt'), 'hello\n', { mode: 0o644 });
  declare([]);
  daemon.declareFixture('fetch', 'fetch_server.mjs');
  await daemon.start();
});
after(() => daemon.stop());

describe('a server whose directory is not declared', () => {
  test('has it proposed, and works with what is proposed', async () => {
    const toml = await daemon.command('learn', 'files', ...session);
    assert.match(toml, /^\[server\.files\]$/m);
    assert.deepEqual(readOf(toml), [project]);

    await daemon.end();
    declare(readOf(toml));
    await daemon.startAgain();
    assert.match(await daemon.command('call', 'files', 'list_directory', `path=${project}`), /notes\.txt/);
  });

  test('has nothing more proposed once it is', async () => {
    const { toml, advises } = JSON.parse(await daemon.command('--json', 'learn', 'files', ...session));
    assert.deepEqual(readOf(toml), []);
    assert.equal(advises, false);
  });
});

describe('a server without a network that asks for a name', () => {
  const url = 'url=https://files.example.org/';
  const learned = (...more) => daemon.command('learn', 'fetch', ...more, '--', cellblock, 'call', 'fetch', 'fetch', url);
  const keysOf = (toml) => toml.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

  test('has a network and that name proposed in one run, and nothing more with them', async () => {
    const toml = await learned();
    const first = keysOf(toml);
    assert.equal(first[0], '[server.fetch]');
    assert.match(first[1], /^network = "egress" {2}# resolve files\.example\.org was refused/);
    assert.match(toml, /^ {2}"files\.example\.org:443", {2}# resolve files\.example\.org was refused/m);

    await daemon.end();
    daemon.declareFixture('fetch', 'fetch_server.mjs', { lines: first.slice(1) });
    await daemon.startAgain();
    assert.deepEqual(keysOf(await learned()), []);
  });

  test('has the proposal written to a file that was not there', async () => {
    const file = path.join(project, 'proposal.toml');
    assert.equal(await learned('--output', file), '');
    const text = fs.readFileSync(file, 'utf8');
    assert.match(text, /^# Proposed by "cellblock learn"/);
    await learned('--output', file);
    assert.equal(fs.readFileSync(file, 'utf8'), text);
  });
});
