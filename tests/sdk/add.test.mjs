// `cellblock add`: one line of a host's configuration becomes a confined server that works.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

import { inBothModes, textOf, user } from './support/place.mjs';

function publish(registry) {
  registry.publishWheel('wheel-server', '1.0.0');
  registry.publish('made', '1.0.0');
  registry.publish('@scope/scripted', '1.0.0', {
    scripts: { postinstall: 'node script.js' },
    files: { 'script.js': `let reached = 'no network';
require('http').get('${registry.url}made', () => { require('fs').writeFileSync('network', ''); })
  .on('error', () => require('fs').writeFileSync('ran', reached));` },
  });
  registry.publish('broken', '1.0.0', { fails: 'no license key' });
}

inBothModes(publish, ({ registry, place }) => {
  test('One line makes a server that writes where it was told, as its user', async () => {
    const added = await place.add('made', ['npx', '-y', 'made', place.project], ['--write', place.project]);
    assert.equal(added.code, 0, added.err);
    assert.match(added.err, /3 tools: write, environment, files/);
    assert.match(added.err, new RegExp(`reads and writes ${place.project}`));
    assert.ok(JSON.parse(added.out).args.includes('connect'));
    assert.match(fs.readFileSync(place.declaration('made'), 'utf8'), /"write",|"write"/);
    assert.deepEqual(place.remains('made'), []);
    if (!place.isSystem) await place.start();
    const file = path.join(place.project, 'made.txt');
    assert.equal(textOf(await place.call('made', 'write', { path: file })), 'done');
    assert.equal(fs.statSync(file).uid, user);
  });

  test('What it was given is in the list, and added once', async () => {
    assert.match((await place.cellblock('servers')).out, /^made +made 1\.0\.0$/m);
    const again = await place.add('made', ['npx', 'made']);
    assert.equal(again.code, 1);
    assert.match(again.err, /is declared already/);
  });

  test('Recipes that did not come along with the programs are missed aloud', async () => {
    const recipes = path.join(place.directory, 'share/cellblock/recipes');
    fs.renameSync(recipes, `${recipes}.away`);
    try {
      const added = await place.cellblock('add', 'without', '--yes', ...place.allowed, '--', 'npx', '-y', 'no-such-package');
      assert.match(added.err, /recipes is not there: what known packages need/);
    } finally {
      fs.renameSync(`${recipes}.away`, recipes);
    }
  });

  test('A line behind `cellblock run --` reaches the server that was added with it', async () => {
    const files = await place.callThrough(['run', '--', 'npx', 'made', place.project], 'files');
    assert.match(textOf(files), /main\.js/);
  });

  test('A line that nobody added is granted nothing, and the host is told the command', async () => {
    await assert.rejects(place.callThrough(['run', '--', 'npx', '-y', 'made', '/elsewhere'], 'files'),
                         /cellblock add made -- 'npx' '-y' 'made' '\/elsewhere'/);
  });

  test('All servers of a host are added, but for those that cannot be', async () => {
    const file = path.join(place.home, 'mcp.json');
    fs.writeFileSync(file, JSON.stringify({ mcpServers: {
      'First One': { command: 'npx', args: ['-y', 'made@1.0.0'], env: { MADE_TOKEN: '<YOUR_TOKEN>' } },
      broken: { command: 'npx', args: ['broken'] },
      remote: { url: 'https://mcp.example.org/' } } }));
    const words = ['cellblock', 'import', file, '--install', ...place.allowed];
    const env = { MADE_TOKEN: 'hush-hush-hush' };
    const unnamed = await place.run([...words, '--yes'], { env });
    assert.match(unnamed.err, /MADE_TOKEN has no value: --env MADE_TOKEN/);
    assert.match(unnamed.err, /0 of 3 servers added/);
    const declined = await place.answer('n', [...words, '--env', 'MADE_TOKEN'], { env });
    assert.match(declined, /Start "first-one" with this/);
    assert.match(declined, /secrets +MADE_TOKEN/);
    assert.doesNotMatch(declined, /starting it once|declared in/);
    const all = await place.run([...words, '--yes', '--env', 'MADE_TOKEN'], { env });
    assert.equal(all.code, 1);
    assert.match(all.err, /1 of 3 servers added/);
    assert.match(textOf(await place.call('first-one', 'environment')), /"MADE_TOKEN":"\[|hush/);
  });

  test('A package of PyPI becomes a server as one of npm does', async () => {
    const line = ['uvx', 'wheel-server', place.project];
    const added = await place.add('wheel', line, ['--write', place.project]);
    assert.equal(added.code, 0, added.err);
    const file = path.join(place.project, 'wheel.txt');
    assert.equal(textOf(await place.call('wheel', 'write', { path: file })), 'done');
    assert.equal(fs.statSync(file).uid, user);
    assert.doesNotMatch(textOf(await place.call('wheel', 'environment')), /PIP_|XDG_/);
    assert.match(textOf(await place.callThrough(['run', '--', ...line], 'files')), /__init__\.py/);
    const [version] = fs.readdirSync(path.join(place.servers, 'wheel')).filter((name) => name !== 'origin.json');
    assert.match(fs.readFileSync(path.join(place.servers, 'wheel', version, 'requirements.lock'), 'utf8'),
                 /^wheel-server==1\.0\.0 --hash=sha256:[0-9a-f]{64}$/m);
  });

  test('A description of a registry is enough to add its server', async () => {
    const file = path.join(place.home, 'server.json');
    fs.writeFileSync(file, JSON.stringify({
      name: 'org.example/described', version: '1.0.0',
      packages: [{ registryType: 'pypi', identifier: 'wheel-server', version: '1.0.0', transport: { type: 'stdio' } }] }));
    const added = await place.cellblock('import', file, '--install', '--yes', ...place.allowed);
    assert.match(added.err, /1 of 1 servers added/);
    const [{ server }] = JSON.parse((await place.cellblock('--json', 'servers')).out).filter((one) => one.package === 'wheel-server');
    assert.match(textOf(await place.call(server, 'files')), /__init__\.py/);
    assert.equal((await place.cellblock('remove', '--yes', server)).code, 0);
  });

  test('A secret gets a file of its own, which nobody else reads', async () => {
    const added = await place.add('secretive', ['npx', 'made'], ['--env', 'API_TOKEN=hush-hush-hush']);
    assert.equal(added.code, 0, added.err);
    assert.doesNotMatch(fs.readFileSync(place.declaration('secretive'), 'utf8') + added.err, /hush/);
    const file = path.join(place.configuration, 'secrets/secretive.API_TOKEN');
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
    assert.match(fs.readFileSync(file, 'utf8'), /^hush-hush-hush/);
    assert.doesNotMatch(textOf(await place.call('secretive', 'environment')), /npm_config|XDG_/);
  });

  test('What a package runs at its installation is left out', async () => {
    const added = await place.add('scripted', ['npx', '@scope/scripted']);
    assert.equal(added.code, 0, added.err);
    assert.doesNotMatch(textOf(await place.call('scripted', 'files')), /\bran\b/);
  });

  test('With --allow-scripts it is run, without a network', async () => {
    const added = await place.add('running', ['npx', '@scope/scripted'], ['--allow-scripts']);
    assert.equal(added.code, 0, added.err);
    const files = textOf(await place.call('running', 'files'));
    assert.match(files, /\bran\b/);
    assert.doesNotMatch(files, /\bnetwork\b/);
  });
});
