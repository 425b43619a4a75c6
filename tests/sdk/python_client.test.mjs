// A host in Python (client/python) against a real server in a cell.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { Daemon, asHost } from './support/daemon.mjs';

const python = '/usr/bin/python3';
const here = path.dirname(fileURLToPath(import.meta.url));
const skip = fs.existsSync(python) ? false : 'needs python3';
const daemon = new Daemon();
const seen = new Map();
let code;

// What the host says; where it waits, something is done to the daemon.
async function run() {
  const place = path.join(daemon.directory, 'python_host');
  fs.cpSync(path.resolve(here, '../../client/python/cellblock'), path.join(place, 'cellblock'), { recursive: true });
  fs.copyFileSync(path.join(here, 'support/python_host.py'), path.join(place, 'python_host.py'));
  const [command, ...args] = [...asHost, python, '-B', path.join(place, 'python_host.py'), 'everything'];
  const env = { PATH: '/usr/bin:/bin', HOME: '/', CELLBLOCK_SOCKET: daemon.socket,
                CELLBLOCK_LIBRARY: path.join(daemon.directory, 'bin/libcellblock-client.so.0.2') };
  const child = spawn(command, args, { env, cwd: '/', stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    const [name, value] = JSON.parse(line);
    seen.set(name, value);
    if (name !== 'crash') continue;
    await daemon.crash('supervisor');
    child.stdin.write('\n');
  }
  [code] = await ended;
}

before(async () => {
  if (skip) return;
  daemon.declareEverything(['elicitation']);
  await daemon.start();
  await run();
});
after(() => daemon.stop());

describe('a host in Python', { skip }, () => {
  test('ends well', () => assert.equal(code, 0));

  test('lists the tools of a server in a cell, and calls many at once', () => {
    assert.ok(seen.get('tools').includes('echo'));
    assert.deepEqual(seen.get('texts'), Array.from({ length: 20 }, (_, index) => `Echo: m${index}`));
  });

  test('answers an elicitation in a coroutine', () => assert.match(seen.get('elicited'), /Ada/));

  test('cancels a call with its task, and goes on', () => {
    assert.equal(seen.get('cancelled'), true);
    assert.equal(seen.get('after'), 'Echo: after');
  });

  test('denies by its own rules, and asks its user where a rule of the administrator\'s wants his word', () => {
    assert.deepEqual(seen.get('denied'), ['denied_by_host', 'the host denied this call: not today']);
    const [call, text, refused] = seen.get('asked');
    assert.deepEqual(call, ['everything', 'get-sum', { a: 2, b: 3 }]);
    assert.match(text, /5/);
    assert.equal(refused, 'approval_required');
  });

  test('is told by its code why a server is refused', () => {
    assert.deepEqual(seen.get('refused'), ['refused', 'not_allowlisted', true]);
  });

  test('comes back after the daemon was killed', () => assert.equal(seen.get('again'), 'Echo: two'));
});
