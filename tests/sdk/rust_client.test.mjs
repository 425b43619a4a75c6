// The host in Rust (examples/rust_host), built with Debian's crates, against a real server in a cell.
// Needs cargo and librust-tokio-dev; it is skipped without.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { Daemon, asHost } from './support/daemon.mjs';

const cargo = '/usr/bin/cargo';
const crates = '/usr/share/cargo/registry'; // where Debian's librust-*-dev packages are
const here = path.dirname(fileURLToPath(import.meta.url));
const example = path.resolve(here, '../../examples/rust_host');
const hasTokio = fs.existsSync(crates) && fs.readdirSync(crates).some((name) => name.startsWith('tokio-1'));
const lacks = [[fs.existsSync(cargo), 'cargo'], [hasTokio, 'librust-tokio-dev']].filter(([is]) => !is).map(([, name]) => name);
const skip = lacks.length > 0 && `this machine lacks ${lacks.join(' and ')}`;
const daemon = new Daemon();
const seen = new Map();
let place;
let code;

// Both programs: the example as it stands, and one that does all that a host does.
function build() {
  place = path.join(daemon.directory, 'rust_host');
  fs.cpSync(example, place, { recursive: true });
  fs.mkdirSync(path.join(place, 'src/bin'));
  fs.copyFileSync(path.join(here, 'support/rust_host.rs'), path.join(place, 'src/bin/tested.rs'));
  fs.mkdirSync(path.join(place, '.cargo'));
  fs.writeFileSync(path.join(place, '.cargo/config.toml'),
                   `[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "${crates}"\n[build]\nrustflags = ["-D", "warnings"]\n`);
  fs.symlinkSync(path.join(daemon.directory, 'bin/libcellblock-client.so.0.2'), path.join(place, 'libcellblock-client.so'));
  const env = { PATH: '/usr/bin:/bin', HOME: place, CELLBLOCK_LIBRARY_DIR: place };
  const built = spawnSync(cargo, ['build', '--offline'], { cwd: place, env, encoding: 'utf8' });
  assert.equal(built.status, 0, built.stderr);
}

const env = () => ({ PATH: '/usr/bin:/bin', HOME: '/', CELLBLOCK_SOCKET: daemon.socket, LD_LIBRARY_PATH: path.join(daemon.directory, 'bin') });
const program = (name, ...args) => [...asHost, path.join(place, 'target/debug', name), ...args];

// What the host says; where it waits, something is done to the daemon.
async function run() {
  const [command, ...args] = program('tested', 'everything');
  const child = spawn(command, args, { env: env(), cwd: '/', stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    const [name] = line.split(' ', 1);
    seen.set(name, line.slice(name.length + 1));
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
  build();
  await run();
});
after(() => daemon.stop());

describe('a host in Rust', { skip }, () => {
  test('ends well', () => assert.equal(code, 0));

  test('lists the tools of a server in a cell, and calls many at once', () => {
    assert.ok(seen.get('tools').split(',').includes('echo'));
    assert.equal(seen.get('texts'), Array.from({ length: 20 }, (_, index) => `Echo: m${index}`).join());
  });

  test('answers an elicitation from another thread', () => assert.match(seen.get('elicited'), /Ada/));

  test('cancels a call whose future it drops, and goes on', () => {
    assert.equal(seen.get('cancelled'), 'yes');
    assert.equal(seen.get('after'), 'Echo: after');
  });

  test('denies by its own rules, and asks its user where a rule of the administrator\'s wants his word', () => {
    assert.equal(seen.get('denied'), 'denied_by_host: the host denied this call: not today');
    assert.equal(seen.get('approval'), 'everything get-sum {"a":2,"b":3}');
    assert.match(seen.get('allowed'), /5/);
    assert.equal(seen.get('dropped'), 'approval_required');
  });

  test('is told by its code why a server or a rule is refused', () => {
    assert.equal(seen.get('refused'), 'refused not_allowlisted true');
    assert.equal(seen.get('bad_rule'), 'invalid_argument');
  });

  test('comes back after the daemon was killed', () => assert.equal(seen.get('again'), 'Echo: two'));

  test('the example lists tools, and calls one when its user says y', () => {
    const said = (input, ...args) => {
      const [command, ...words] = program('rust_host', 'everything', ...args);
      return spawnSync(command, words, { env: env(), cwd: '/', encoding: 'utf8', input });
    };
    assert.match(said('').stdout, /^echo$/m);
    const call = ['echo', '{"message":"caf\u00e9"}'];
    const agreed = said('y\n', ...call);
    assert.match(agreed.stderr, /echo of everything with .*\? \[y\/n\]/);
    assert.equal(agreed.stdout, 'Echo: caf\\u{e9}\n');
    const denied = said('n\n', ...call);
    assert.equal(denied.status, 1);
    assert.match(denied.stderr, /denied_by_host: .* denied this call: the user said no/);
  });
});
