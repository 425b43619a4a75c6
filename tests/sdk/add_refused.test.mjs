// What `cellblock add` refuses, packages of hostile authors among it, and that nothing of it stays. A signal
// in the middle leaves nothing either.

import assert from 'node:assert/strict';
import * as path from 'node:path';
import { once } from 'node:events';
import { test } from 'node:test';

import { inBothModes } from './support/place.mjs';
import { wheel } from './support/wheels.mjs';

function publish(registry) {
  registry.publishWheel('wheel-broken', '1.0.0', { fails: 'no license key' });
  registry.publishWheel('wheel-bare', '1.0.0', { script: '' });
  registry.publishFile('source-only', 'source_only-1.0.0.tar.gz', Buffer.from('no archive'));
  const backend = { 'pyproject.toml': '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
                    'backend.py': 'raise SystemExit("its code has run")\n' };
  registry.publishFile('built', 'built-1.0.0.zip', wheel('built', '1.0.0', { files: backend }).bytes);
  registry.publishWheel('wheel-building', '1.0.0', { files: { 'wheel_building-1.0.0.dist-info/METADATA':
    `Metadata-Version: 2.1\nName: wheel-building\nVersion: 1.0.0\nRequires-Dist: built @ ${registry.url}simple/built/built-1.0.0.zip\n` } });
  registry.publish('made', '1.0.0');
  registry.publish('broken', '1.0.0', { fails: 'no license key' });
  registry.publish('toolless', '1.0.0', { bin: undefined });
  registry.publish('elsewhere', '1.0.0', { dependencies: { other: 'http://127.0.0.1:9/other.tgz' } });
  const scripted = (script) => ({ scripts: { postinstall: 'node script.js' }, files: { 'script.js': `const fs = require('fs');\n${script}` } });
  registry.publish('linking', '1.0.0', scripted("fs.symlinkSync('/etc/passwd', '/out/tree/node_modules/linking/passwd');"));
  registry.publish('renaming', '1.0.0', scripted(`const file = '/out/tree/node_modules/renaming/package.json';
const description = JSON.parse(fs.readFileSync(file));
fs.writeFileSync(file, JSON.stringify({ ...description, version: '9.9.9/../../../../x', bin: '../../../../../bin/sh' }));`));
  registry.publish('killing', '1.0.0', scripted(`for (const name of fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))) {
  if (Number(name) !== process.pid) try { process.kill(Number(name), 'SIGKILL'); } catch { }
}`));
  registry.publish('hiding', '1.0.0', scripted(`fs.mkdirSync('/out/hidden');
fs.writeFileSync('/out/hidden/large', 'x');
fs.chmodSync('/out/hidden', 0);
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600_000);`));
  registry.publish('outside', '1.0.0', { bin: { outside: '../../../etc/passwd' } });
}

inBothModes(publish, ({ registry, place }) => {
  test('A server that does not start is not added, and its last words are told', async () => {
    const added = await place.add('broken', ['npx', 'broken']);
    assert.notEqual(added.code, 0);
    assert.match(added.err, /no license key/);
    assert.ok(!place.isDeclared('broken'));
  });

  const refused = {
    'A package that is not there': [['npx', 'nobodys'], /404/],
    'A package without a program': [['npx', 'toolless'], /has no program to start/],
    'A program outside of its package': [['npx', 'outside'], /has no program to start|leads out/],
    'A script that leaves a link out': [['npx', 'linking'], /is a link that leads out/, ['--allow-scripts']],
    'A script that renames its package': [['npx', 'renaming'], /has no program to start/, ['--allow-scripts']],
    'A script that ends all it sees': [['npx', 'killing'], /killed by signal 9/, ['--allow-scripts']],
    'A dependency from elsewhere': [['npx', 'elsewhere'], /could not be installed/],
    'A package of PyPI that is not there': [['uvx', 'nobodys'], /No matching distribution/],
    'A package of PyPI without a wheel': [['uvx', 'source-only'], /No matching distribution/],
    'A package of PyPI that has another one built': [['uvx', 'wheel-building'], /what it needs has to be built/],
    'A package of PyPI without a program': [['uvx', 'wheel-bare'], /has no program to start/],
    'A server of PyPI that does not start': [['uvx', 'wheel-broken'], /no license key/],
    'A server that does not start, of a range that was left out': [['npx', 'broken@^9'], /broken: "\^9" is a range or a tag, and is left out: the newest version is installed/],
    'A name that is a path': [['npx', '../made'], /\.\.\/made: .* is not there/],
    'A container with the network of the host': [['docker', 'run', '--network', 'host', 'image'], /--egress/],
    'A path that is not there': [['npx', 'made', '/home/nobody/gone'], /is not there/],
  };
  for (const [what, [words, why, options]] of Object.entries(refused)) {
    test(`${what} is refused, and leaves nothing`, async () => {
      const added = await place.add('refused', words, options);
      assert.notEqual(added.code, 0);
      assert.match(added.err, why);
      assert.ok(!place.isDeclared('refused'));
      assert.deepEqual(place.remains(), []);
    });
  }

  test('A directory that a script has closed to us ends it, and is removed', { skip: place.isSystem && 'root reads all' }, async () => {
    const added = await place.add('refused', ['npx', 'hiding'], ['--allow-scripts']);
    assert.equal(added.code, 1);
    assert.match(added.err, /hidden.* cannot be read/);
    assert.deepEqual(place.remains(), []);
  });

  for (const signal of ['SIGINT', 'SIGTERM']) {
    test(`${signal} in the middle of it leaves nothing behind`, async () => {
      registry.hangs = /^slow$/;
      registry.asked = [];
      const child = place.spawn(['cellblock', 'add', 'slow', '--yes', ...place.allowed, '--', 'npx', 'slow']);
      await registry.wasAsked(/^slow$/);
      // setpriv has become the command by now.
      child.kill(signal);
      const [code] = await once(child, 'exit');
      assert.equal(code, 1);
      assert.deepEqual(place.remains(), []);
    });
  }

  test('What SIGKILL left is cleared away by the next one, its daemon included', async () => {
    assert.equal((await place.add('kept', ['npx', 'made'])).code, 0);
    registry.asked = [];
    const child = place.spawn(['cellblock', 'add', 'slow', '--yes', ...place.allowed, '--', 'npx', 'slow']);
    await registry.wasAsked(/^slow$/);
    if (place.isSystem) {
      const [scratch] = place.remains('kept');
      const out = path.join(place.servers, scratch, 'out');
      assert.equal((await place.run(['ls', out])).code, 0, 'root sees it');
      assert.notEqual((await place.run(['ls', out], { asUser: true })).code, 0, 'no other user gets to it');
    }
    const meanwhile = await place.cellblock('remove', '--yes', 'kept');
    assert.equal(meanwhile.code, 1);
    assert.match(meanwhile.err, /is at work/);
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal(place.remains('kept').length, 1);
    registry.hangs = null;
    const added = await place.add('again', ['npx', 'made@1.0.0']);
    assert.equal(added.code, 0, added.err);
    assert.deepEqual(place.remains('kept', 'again'), []);
  });
});
