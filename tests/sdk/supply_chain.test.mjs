// What the registry says of what was installed: at `cellblock add` and `update`, and later by `cellblock servers --audit`.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

import { inBothModes, textOf } from './support/place.mjs';

const nothingFound = 0;
const found = 16;

function publish(registry) {
  registry.signs = true;
  registry.maintainers.set('made', ['alice', 'bob']);
  registry.publish('shared-library', '1.0.0', { said: { attested: true } });
  registry.publish('made', '1.0.0', { dependencies: { 'shared-library': '1.0.0' }, said: { publisher: 'alice' } });
  registry.publish('forged', '1.0.0', { said: { signature: 'wrong' } });
  registry.publish('on-forged', '1.0.0', { dependencies: { forged: '1.0.0' } });
  registry.publish('half-signed', '1.0.0', { dependencies: { 'not-signed': '1.0.0' } });
  registry.publish('not-signed', '1.0.0', { said: { signature: 'none' } });
  registry.publishWheel('wheel-server', '1.0.0');
}

inBothModes(publish, ({ registry, place }) => {
  const audit = async () => {
    const { code, out, err } = await place.cellblock('--json', 'servers', '--audit');
    assert.ok(out, err);
    const { servers } = JSON.parse(out);
    return { code, of: (name) => servers.find(({ server }) => server === name) };
  };
  const kinds = ({ findings }) => findings.map(({ kind, package: name }) => `${kind} ${name}`);
  const remove = (name) => place.cellblock('remove', '--yes', name);

  test('A package whose signatures fit is installed, and it is said so', async () => {
    const added = await place.add('made', ['npx', 'made']);
    assert.equal(added.code, 0, added.err);
    assert.match(added.err, /2 of 2 packages have a signature of the registry that fits/);
    const { record } = JSON.parse(fs.readFileSync(path.join(place.servers, 'made/origin.json'), 'utf8'));
    assert.match(record.installed, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.deepEqual({ ...record, installed: '' }, { installed: '', maintainers: ['alice', 'bob'], publisher: 'alice', is_signed: true });
  });

  for (const name of ['forged', 'on-forged']) {
    test(`A wrong signature keeps ${name} from being installed, and nothing stays`, async () => {
      const added = await place.add('wrong', ['npx', name]);
      assert.equal(added.code, 1);
      assert.match(added.err, /not installed, since the registry's signature of forged 1\.0\.0 is wrong: its signature does not fit the key SHA256:made/);
      assert.ok(!place.isDeclared('wrong'));
      assert.deepEqual(place.remains('made'), []);
    });
  }

  test('A wrong signature is found behind more findings than are told', async () => {
    const names = Array.from({ length: 210 }, (_, at) => `crowd-${at}`);
    for (const name of names) registry.publish(name, '1.0.0', { said: { deprecated: 'old', signature: 'none' } });
    const dependencies = Object.fromEntries([...names, 'forged'].map((name) => [name, '1.0.0']));
    registry.publish('crowded', '1.0.0', { dependencies });
    assert.match((await place.add('crowded', ['npx', 'crowded'])).err, /signature of forged 1\.0\.0 is wrong/);
  });

  test('A key that has expired counts for what was published before, and for nothing later', async () => {
    registry.expires = '2026-01-01T00:00:00.000Z';
    registry.publish('early', '1.0.0', { said: { published: '2025-06-01T00:00:00.000Z' } });
    registry.publish('late', '1.0.0', { said: { published: '2026-06-01T00:00:00.000Z' } });
    assert.match((await place.add('late', ['npx', 'late'])).err, /signature of late 1\.0\.0 is wrong: the key SHA256:made expired before it was published/);
    const added = await place.add('early', ['npx', 'early']);
    assert.equal(added.code, 0, added.err);
    assert.match(added.err, /1 of 1 packages have a signature of the registry that fits/);
    await remove('early');
    registry.expires = null;
  });

  test('A package without a signature is installed, and named', async () => {
    const added = await place.add('half', ['npx', 'half-signed']);
    assert.equal(added.code, 0, added.err);
    assert.match(added.err, /1 of 2 packages have no signature: not-signed 1\.0\.0/);
    const { code, of } = await audit();
    assert.equal(code, found);
    assert.deepEqual(kinds(of('half')), ['unsigned not-signed']);
    await remove('half');
  });

  test('An audit that finds nothing ends with 0, and says what was not verified', async () => {
    const { code, out, err } = await place.cellblock('servers', '--audit');
    assert.equal(code, nothingFound, out + err);
    assert.match(out, /^made {2}made 1\.0\.0$/m);
    assert.match(out, /1 of 2 packages have a provenance attestation, which was not verified/);
  });

  test('A newer version, another maintainer and a publisher whom nobody knows are found', async () => {
    registry.publish('made', '1.1.0', { dependencies: { 'shared-library': '1.0.0' }, said: { publisher: 'mallory' } });
    registry.maintainers.set('made', ['alice', 'mallory']);
    const { code, of } = await audit();
    assert.equal(code, found);
    assert.deepEqual(kinds(of('made')), ['changed_hands made', 'changed_hands made', 'behind made']);
    const { out } = await place.cellblock('servers', '--audit');
    assert.match(out, /changed hands +made 1\.0\.0: maintained by alice, mallory; when it was installed by alice, bob/);
    assert.match(out, /1\.1\.0 was published by mallory, who did not maintain it when 1\.0\.0 was installed/);
    assert.match(out, /behind +made 1\.0\.0: 1\.1\.0 is the newest/);
  });

  test('An update to a version with a wrong signature leaves the old one', async () => {
    registry.publish('made', '1.2.0', { said: { signature: 'wrong' } });
    const updated = await place.cellblock('update', '--yes', 'made');
    assert.equal(updated.code, 1);
    assert.match(updated.err, /signature of made 1\.2\.0 is wrong/);
    if (!place.isSystem) await place.start();
    assert.match(textOf(await place.call('made', 'files')), /main\.js/);
    registry.packages.get('made').delete('1.2.0');
  });

  test('An update records who maintains the package now, and the way back what was known before', async () => {
    assert.equal((await place.cellblock('update', '--yes', 'made')).code, 0);
    assert.deepEqual(kinds((await audit()).of('made')), []);
    assert.equal((await place.cellblock('update', '--rollback', 'made')).code, 0);
    assert.ok(kinds((await audit()).of('made')).includes('changed_hands made'));
  });

  test('A version that is deprecated, or gone, or another archive, is found', async () => {
    const versions = registry.packages.get('made');
    versions.get('1.0.0').said.deprecated = 'use something else';
    const library = registry.packages.get('shared-library');
    const { bytes } = library.get('1.0.0');
    library.get('1.0.0').bytes = Buffer.concat([bytes, bytes]);
    const { of } = await audit();
    assert.ok(kinds(of('made')).includes('deprecated made'));
    assert.ok(kinds(of('made')).includes('altered shared-library'));
    library.delete('1.0.0');
    library.set('0.9.0', { description: { name: 'shared-library', version: '0.9.0' }, bytes });
    assert.ok(kinds((await audit()).of('made')).includes('withdrawn shared-library'));
  });

  test('A registry that signs nothing any more is found, and one that never did is said', async () => {
    registry.signs = false;
    const { of } = await audit();
    const [unsigned] = of('made').findings.filter(({ kind }) => kind === 'unsigned');
    assert.match(unsigned.detail, /signed it when it was installed, and gives no signatures now/);
    registry.publish('plain', '1.0.0');
    const added = await place.add('plain', ['npx', 'plain']);
    assert.equal(added.code, 0, added.err);
    assert.match(added.err, /the registry gives no signatures/);
    const after = await audit();
    assert.deepEqual(kinds(after.of('plain')), []);
    assert.ok(after.of('plain').notes.includes('the registry gives no signatures'));
    await remove('made');
    await remove('plain');
  });

  test('A wheel that its index has yanked, or has no more, is found', async () => {
    const added = await place.add('wheel', ['uvx', 'wheel-server', place.project], ['--write', place.project]);
    assert.equal(added.code, 0, added.err);
    assert.match(added.err, /the index gives no signatures/);
    assert.equal((await audit()).code, nothingFound);
    const [file] = registry.wheels.get('wheel-server').keys();
    registry.yanked.set(file, 'it <loses> files');
    registry.publishWheel('wheel-server', '1.1.0');
    const yanked = (await audit()).of('wheel');
    assert.deepEqual(kinds(yanked), ['withdrawn wheel-server', 'behind wheel-server']);
    assert.equal(yanked.findings[0].detail, 'yanked: it <loses> files');
    registry.wheels.get('wheel-server').delete(file);
    assert.equal((await audit()).of('wheel').findings[0].detail, 'the index has this version no more');
  });

  test('A registry that does not answer is an error of that server, and no finding', async () => {
    registry.fails = /^simple/;
    const { code, of } = await audit();
    assert.equal(code, 1);
    assert.match(of('wheel').error, /its registry could not be asked/);
    assert.deepEqual(of('wheel').findings, []);
  });
});
