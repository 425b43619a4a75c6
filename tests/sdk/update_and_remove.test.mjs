// `cellblock update` and `cellblock remove`, of what `cellblock add` has added.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

import { inBothModes, textOf } from './support/place.mjs';

function publish(registry) {
  registry.publishWheel('wheel-server', '1.0.0');
  registry.publish('made', '1.0.0');
}

inBothModes(publish, ({ registry, place }) => {
  test('Servers are added', async () => {
    for (const [name, words, options] of [
      ['made', ['npx', 'made']],
      ['kept', ['npx', 'made@1.0.0']],
      ['secretive', ['npx', 'made'], ['--env', 'API_TOKEN=hush-hush-hush']],
      ['wheel', ['uvx', 'wheel-server', place.project], ['--write', place.project]],
    ]) {
      const added = await place.add(name, words, options);
      assert.equal(added.code, 0, added.err);
    }
    if (!place.isSystem) await place.start();
  });

  test('An update shows what is new, keeps it closed, and is taken back', async () => {
    registry.publish('made', '1.1.0', { tools: ['write', 'files', 'environment', 'format_disk'] });
    const updated = await place.cellblock('update', '--yes', 'made');
    assert.equal(updated.code, 0, updated.err);
    assert.match(updated.err, /1\.0\.0 -> 1\.1\.0/);
    assert.match(updated.err, /new, and not allowed .*format_disk/);
    assert.match(textOf(await place.call('made', 'environment')), /PATH/);
    const back = await place.cellblock('update', '--rollback', 'made');
    assert.match(back.out, /1\.1\.0 -> 1\.0\.0/);
    assert.match((await place.cellblock('servers')).out, /^made +made 1\.0\.0$/m);
    assert.match(textOf(await place.call('made', 'files')), /main\.js/);
  });

  test('A version that was taken back is given again from what is kept, whether the answer is yes or no', async () => {
    const kept = fs.readdirSync(path.join(place.servers, 'made')).sort();
    const declined = await place.answer('n', ['cellblock', 'update', 'made']);
    assert.match(declined, /nothing was changed/);
    assert.deepEqual(fs.readdirSync(path.join(place.servers, 'made')).sort(), kept);
    const again = await place.cellblock('update', '--yes', 'made');
    assert.match(again.out, /1\.0\.0 -> 1\.1\.0/);
    assert.match((await place.cellblock('update', '--rollback', 'made')).out, /1\.1\.0 -> 1\.0\.0/);
    assert.deepEqual(fs.readdirSync(path.join(place.servers, 'made')).sort(), kept);
  });

  test('An update that does not start leaves the old one', async () => {
    registry.publish('made', '1.2.0', { fails: 'wants a newer Node' });
    const updated = await place.cellblock('update', '--yes', 'made');
    assert.equal(updated.code, 1);
    assert.match(updated.err, /1\.2\.0 does not start, 1\.0\.0 stays: .*/);
    assert.match(textOf(await place.call('made', 'files')), /main\.js/);
  });

  test('A package of PyPI is updated and taken back', async () => {
    registry.publishWheel('wheel-server', '1.1.0', { tools: ['files', 'format_disk'] });
    const updated = await place.cellblock('update', '--yes', 'wheel');
    assert.match(updated.out, /1\.0\.0 -> 1\.1\.0/, updated.err);
    assert.match(updated.err, /new, and not allowed .*format_disk/);
    assert.match((await place.cellblock('update', '--rollback', 'wheel')).out, /1\.1\.0 -> 1\.0\.0/);
    assert.match(textOf(await place.call('wheel', 'files')), /__init__\.py/);
    assert.equal((await place.cellblock('remove', '--yes', 'wheel')).code, 0);
  });

  test('An update without a newer version changes nothing', async () => {
    for (const version of ['1.1.0', '1.2.0']) registry.packages.get('made').delete(version);
    const { code, out, err } = await place.cellblock('--json', 'update', '--yes', 'kept');
    assert.equal(code, 0, err);
    assert.deepEqual(JSON.parse(out).server, 'kept');
    assert.doesNotMatch(err, /reloaded/);
  });

  test('Where nobody can be asked an update says first what is wrong with its arguments', async () => {
    assert.match((await place.cellblock('update', 'missing')).err, /"missing" was not added/);
    assert.match((await place.cellblock('update', 'kept', 'missing.mcpb')).err, /missing\.mcpb: there is no such file/);
    assert.match((await place.cellblock('add', 'new', '--env', '1bad', '--', 'npx', '-y', 'made')).err, /--env 1bad/);
    assert.match((await place.cellblock('update', 'kept')).err, /nobody can be asked here/);
  });

  test('A removed server is gone with its program and its secret', async () => {
    assert.match((await place.cellblock('remove', 'secretive')).err, /nobody can be asked here/);
    assert.match(await place.answer('n', ['cellblock', 'remove', 'secretive']), /nothing was changed/);
    assert.ok(place.isDeclared('secretive'));
    const removed = await place.cellblock('remove', '--yes', 'secretive');
    assert.equal(removed.code, 0, removed.err);
    assert.ok(!place.isDeclared('secretive'));
    assert.ok(!fs.existsSync(path.join(place.servers, 'secretive')));
    assert.ok(!fs.existsSync(path.join(place.configuration, 'secrets/secretive.API_TOKEN')));
    await assert.rejects(place.call('secretive', 'files'));
    assert.match((await place.cellblock('remove', '--yes', 'secretive')).err, /was not added/);
  });

  test('With --home what it kept goes as well', { skip: place.isSystem && 'each user has a home of its own' }, async () => {
    assert.equal((await place.cellblock('remove', '--yes', '--home', 'kept')).code, 0);
    assert.ok(!place.isDeclared('kept'));
  });
});
