// `cellblock add NAME -- FILE`, of MCP bundles and of a registry's server.json.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

import { link, manifest, plain, writeBundle, writeZip } from './support/bundles.mjs';
import { inBothModes, textOf, user } from './support/place.mjs';

const settings = {
  directory: { type: 'directory', title: 'Where notes are', required: true },
  api_key: { type: 'string', title: 'API key', sensitive: true, required: true },
  size: { type: 'number', default: 5, min: 1, max: 9 },
};
const args = ['${user_config.directory}', '--size=${user_config.size}'];
const env = { API_KEY: '${user_config.api_key}', LIBRARY: '${__dirname}/server' };
const publish = (registry) => registry.publish('made', '1.0.0');

inBothModes(publish, ({ place }) => {
  const at = (name) => path.join(place.home, name);
  const add = (name, file, options = []) => place.add(name, [file], options);
  const given = () => ['--set', `directory=${place.project}`, '--set', 'api_key=hush-hush-hush'];

  test('A bundle becomes a server that has what it asked for, its secret in a file of its own', async () => {
    writeBundle(at('notes.mcpb'), { args, env, settings });
    const added = await add('notes', at('notes.mcpb'), [...given(), '--write', place.project]);
    assert.equal(added.code, 0, added.err);
    assert.match(added.err, /unpacking notes 1\.0\.0 in a cell without a network/);
    assert.match(added.err, /3 tools: write, environment, files/);
    const declared = fs.readFileSync(place.declaration('notes'), 'utf8');
    assert.match(declared, /--size=5/);
    assert.doesNotMatch(declared + added.err, /hush/);
    const secret = path.join(place.configuration, 'secrets/notes.API_KEY');
    assert.equal(fs.statSync(secret).mode & 0o777, 0o600);
    assert.deepEqual(place.remains('notes'), []);
    if (!place.isSystem) await place.start();
    const file = path.join(place.project, 'note.txt');
    assert.equal(textOf(await place.call('notes', 'write', { path: file })), 'done');
    assert.equal(fs.statSync(file).uid, user);
    assert.match((await place.cellblock('servers')).out, /^notes +notes 1\.0\.0$/m);
  });

  test('What it asks for and is not given is named, and nothing is added', async () => {
    const added = await add('asking', at('notes.mcpb'));
    assert.equal(added.code, 1);
    assert.match(added.err, /--set directory=VALUE +Where notes are\n +--set api_key=VALUE +API key/);
    assert.ok(!place.isDeclared('asking'));
  });

  test('A person is asked for it, without the secret being shown, and before anything starts', async () => {
    const line = ['cellblock', 'add', 'asked', ...place.allowed, '--set', `directory=${place.project}`, '--', at('notes.mcpb')];
    const shown = await place.type([['API key: ', 'hush-hush-typed'], ['[y/N] ', 'y']], line);
    assert.match(shown, /API key: /);
    assert.match(shown, /Start "asked" with this/);
    assert.doesNotMatch(shown, /hush/);
    assert.match(fs.readFileSync(path.join(place.configuration, 'secrets/asked.API_KEY'), 'utf8'), /^hush-hush-typed/);
    assert.equal((await place.cellblock('remove', '--yes', 'asked')).code, 0);
  });

  for (const [what, options, why] of [
    ['a setting that it does not have', ['--set', 'other=1'], /it asks for directory, api_key, size/],
    ['a number out of bounds', ['--set', 'size=10'], /a number from 1 to 9/],
    ['a setting twice', ['--set', 'size=1', '--set', 'size=2'], /takes one value/],
    ['a setting that is not in the environment', ['--set', 'api_key'], /api_key is not in your environment/],
  ]) {
    test(`It is not given ${what}`, async () => {
      const added = await add('asking', at('notes.mcpb'), options);
      assert.equal(added.code, 1);
      assert.match(added.err, why);
    });
  }

  test('A newer file takes the place of the old one, and is taken back', async () => {
    writeBundle(at('newer.mcpb'), { version: '1.1.0', args, env, settings: { ...settings, colour: { type: 'string' } },
                                    tools: ['write', 'environment', 'files', 'format_disk'] });
    assert.match((await place.cellblock('update', '--yes', 'notes')).out, /cellblock update notes FILE/);
    const updated = await place.cellblock('update', '--yes', 'notes', at('newer.mcpb'));
    assert.equal(updated.code, 0, updated.err);
    assert.match(updated.err, /1\.0\.0 -> 1\.1\.0/);
    assert.match(updated.err, /asks for more than before: colour/);
    assert.match(updated.err, /new, and not allowed .*format_disk/);
    assert.match(textOf(await place.call('notes', 'files')), /main\.js/);
    const again = await place.cellblock('update', '--yes', 'notes', at('newer.mcpb'));
    assert.match(again.out, /1\.1\.0 is installed already/);
    assert.match((await place.cellblock('update', '--rollback', 'notes')).out, /1\.1\.0 -> 1\.0\.0/);
    assert.match(textOf(await place.call('notes', 'files')), /main\.js/);
  });

  test('Another bundle does not take its place', async () => {
    writeBundle(at('other.mcpb'), { name: 'other' });
    const updated = await place.cellblock('update', '--yes', 'notes', at('other.mcpb'));
    assert.equal(updated.code, 1);
    assert.match(updated.err, /is the bundle "other", and the server was added from "notes"/);
  });

  // A comment longer than what one reader of archives looks at for the end: it reads the members in their order, and the first of them is one that the archive does not list.
  test('Another bundle does not take its place by a manifest that only some readers see', async () => {
    writeZip(at('first.zip'), [['manifest.json', manifest({ version: '9.9.9' }), plain]]);
    writeBundle(at('other.mcpb'), { name: 'other', version: '9.9.9' });
    const unlisted = fs.readFileSync(at('first.zip'));
    const listed = fs.readFileSync(at('other.mcpb'));
    const comment = 20_000;
    listed.writeUInt16LE(comment, listed.length - 2);
    fs.writeFileSync(at('both.mcpb'), Buffer.concat([unlisted.subarray(0, unlisted.indexOf('PK\x01\x02', 'latin1')), listed, Buffer.alloc(comment)]), { mode: 0o644 });
    const updated = await place.cellblock('update', '--yes', 'notes', at('both.mcpb'));
    assert.equal(updated.code, 1, updated.err);
    assert.match(updated.err, /is the bundle "other", and the server was added from "notes"/);
  });

  const hostile = {
    'A path out of the bundle': [['../out.js', 'x', plain], /no path inside/],
    'A whole path': [['/etc/out.js', 'x', plain], /no path inside/],
    'A set-user-ID file': [['server/tool', 'x', 0o104755], /set-user-ID/],
    'A device': [['server/null', '', 0o020666], /no file, directory or link/],
    'A link that leads out': [['server/passwd', '/etc/passwd', link], /leads out/],
    'A second manifest': [['./manifest.json', manifest({ name: 'evil' }), plain], /twice|is another once it is unpacked/],
    'A file twice': [['server/main.js', 'x', plain], /twice/],
    'A lock of its own': [['cellblock-bundle.lock', 'x', plain], /is there already/],
  };
  for (const [what, [member, why]] of Object.entries(hostile)) {
    test(`${what} in a bundle refuses it, and leaves nothing`, async () => {
      writeBundle(at('hostile.mcpb'), { members: [member] });
      const added = await add('hostile', at('hostile.mcpb'));
      assert.equal(added.code, 1);
      assert.match(added.err, why);
      assert.ok(!place.isDeclared('hostile'));
      assert.deepEqual(place.remains('notes'), []);
    });
  }

  test('A link inside of a bundle and an executable stay what they are', async () => {
    writeBundle(at('linked.mcpb'), { members: [['server/again.js', 'main.js', link], ['bin/tool', '#!/bin/sh\n', 0o100755]] });
    const added = await add('linked', at('linked.mcpb'));
    assert.equal(added.code, 0, added.err);
    const [version] = fs.readdirSync(path.join(place.servers, 'linked')).filter((name) => name !== 'origin.json');
    const tree = path.join(place.servers, 'linked', version);
    assert.equal(fs.readlinkSync(path.join(tree, 'server/again.js')), 'main.js');
    assert.equal(fs.statSync(path.join(tree, 'bin/tool')).mode & 0o777, 0o755);
    assert.equal(fs.statSync(path.join(tree, 'server/main.js')).mode & 0o777, 0o644);
  });

  const unusable = {
    'for another system': [{ compatibility: { platforms: ['win32'] } }, /does not name linux/],
    'without a version that can be named': [{ version: '../../x' }, /no version that can be named/],
    'with a secret in its command': [{ args: ['--key=${user_config.api_key}'], settings: { api_key: { type: 'string', sensitive: true, default: 'x' } } },
                                     /puts a secret among the words of its command/],
    'whose server does not start': [{ fails: 'no license key' }, /no license key/],
  };
  for (const [what, [described, why]] of Object.entries(unusable)) {
    test(`A bundle ${what} is not added`, async () => {
      writeBundle(at('unusable.mcpb'), described);
      const added = await add('unusable', at('unusable.mcpb'));
      assert.notEqual(added.code, 0);
      assert.match(added.err, why);
      assert.ok(!place.isDeclared('unusable'));
      assert.deepEqual(place.remains('notes', 'linked'), []);
    });
  }

  test('An archive without a manifest is no bundle', async () => {
    writeZip(at('bare.zip'), [['x', 'x', plain]]);
    assert.match((await add('bare', at('bare.zip'))).err, /it has no manifest\.json, so it is no bundle/);
  });

  test('A bundle is removed with its program and its secrets', async () => {
    assert.equal((await place.cellblock('remove', '--yes', 'notes')).code, 0);
    assert.ok(!fs.existsSync(path.join(place.servers, 'notes')));
    assert.ok(!fs.existsSync(path.join(place.configuration, 'secrets/notes.API_KEY')));
  });

  test('`import --install` adds a bundle that asks for nothing', async () => {
    writeBundle(at('quiet.mcpb'), { name: 'quiet' });
    const added = await place.cellblock('import', at('quiet.mcpb'), '--install', '--yes', ...place.allowed);
    assert.match(added.err, /1 of 1 servers added/);
    assert.match(textOf(await place.call('quiet', 'files')), /main\.js/);
  });

  test("A registry's server.json becomes the line of its package", async () => {
    fs.writeFileSync(at('server.json'), JSON.stringify({
      name: 'org.example/described', version: '1.0.0',
      packages: [{ registryType: 'npm', identifier: 'made', version: '1.0.0', transport: { type: 'stdio' },
                   packageArguments: [{ type: 'positional', valueHint: 'root', isRequired: true }],
                   environmentVariables: [{ name: 'MADE_TOKEN', isRequired: true, isSecret: true }] }] }));
    assert.match((await add('described', at('server.json'))).err, /its command needs root: --set root=VALUE/);
    const root = ['--set', `root=${place.project}`];
    assert.match((await add('described', at('server.json'), root)).err, /it needs MADE_TOKEN: --env MADE_TOKEN/);
    const added = await add('described', at('server.json'), [...root, '--env', 'MADE_TOKEN=hush-hush-hush']);
    assert.equal(added.code, 0, added.err);
    assert.match(added.err, new RegExp(`reads ${place.project}|${place.project}`));
    assert.match((await place.cellblock('servers')).out, /^described +made 1\.0\.0$/m);
    assert.match(textOf(await place.callThrough(['run', '--', 'npx', '-y', 'made@1.0.0', place.project], 'files')), /main\.js/);
  });

  test("A host's configuration is not one server, and import is named", async () => {
    fs.writeFileSync(at('mcp.json'), JSON.stringify({ mcpServers: { x: { command: 'npx', args: ['made'] } } }));
    assert.match((await add('whole', at('mcp.json'))).err, /cellblock import FILE --install/);
  });
});
