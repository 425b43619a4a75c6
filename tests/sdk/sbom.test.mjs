// What an added server is made of, as `cellblock servers --sbom` says it: CycloneDX 1.5, by its published schema.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

import { writeBundle } from './support/bundles.mjs';
import { complaintsAbout } from './support/cyclonedx.mjs';
import { Layout, missingTools, putServer } from './support/images.mjs';
import { rootless, user } from './support/place.mjs';

const digest = (algorithm, bytes) => createHash(algorithm).update(bytes).digest('hex');

function publish(registry) {
  registry.publish('@acme/library', '2.0.0', { license: '(MIT OR Apache-2.0)' });
  registry.publish('free-words', '1.0.0', { license: 'SEE LICENSE IN LICENSE.md', dependencies: { '@acme/library': '2.0.0' } });
  registry.publish('other-system', '1.0.0', { os: ['sunos'] });
  registry.publish('made', '1.0.0', { license: 'MIT', dependencies: { 'free-words': '1.0.0' }, optionalDependencies: { 'other-system': '1.0.0' } });
  const information = 'lib_wheel-1.5.0.dist-info/METADATA';
  registry.publishWheel('lib-wheel', '1.5.0', { script: '', files: {
    [information]: 'Metadata-Version: 2.1\nName: lib-wheel\nVersion: 1.5.0\nClassifier: License :: OSI Approved :: MIT License\n' } });
  const own = 'Metadata-Version: 2.4\nName: wheel-server\nVersion: 1.0.0\nLicense-Expression: ISC\nRequires-Dist: Lib_Wheel>=1\nRequires-Dist: absent; extra == "x"\n';
  registry.publishWheel('wheel-server', '1.0.0', { files: { 'wheel_server-1.0.0.dist-info/METADATA': own } });
}

rootless(publish, ({ registry, place }) => {
  const sbom = async (name) => {
    const { code, out, err } = await place.cellblock('servers', '--sbom', name);
    assert.equal(code, 0, err);
    const document = JSON.parse(out);
    assert.deepEqual(complaintsAbout(document), []);
    return { out, document, server: document.metadata.component, of: (purl) => document.components.find((one) => one.purl === purl) };
  };
  const needs = ({ document }, purl) => document.dependencies.find(({ ref }) => ref === purl).dependsOn;
  const add = async (name, words, options) => assert.equal((await place.add(name, words, options)).code, 0);

  test('Of a package of npm it has each installed package with version, hash, licence and what it needs', async () => {
    await add('made', ['npx', 'made']);
    const bom = await sbom('made');
    const bytes = (name, version) => registry.packages.get(name).get(version).bytes;
    assert.equal(bom.server.purl, 'pkg:npm/made@1.0.0');
    assert.deepEqual(bom.server.hashes, [{ alg: 'SHA-512', content: digest('sha512', bytes('made', '1.0.0')) }]);
    assert.deepEqual(bom.server.licenses, [{ license: { id: 'MIT' } }]);
    assert.deepEqual(bom.document.components.map(({ purl }) => purl), ['pkg:npm/%40acme/library@2.0.0', 'pkg:npm/free-words@1.0.0']);
    const library = bom.of('pkg:npm/%40acme/library@2.0.0');
    assert.equal(library.group, '@acme');
    assert.equal(library.name, 'library');
    assert.deepEqual(library.hashes, [{ alg: 'SHA-512', content: digest('sha512', bytes('@acme/library', '2.0.0')) }]);
    assert.deepEqual(library.licenses, [{ expression: '(MIT OR Apache-2.0)' }]);
    assert.deepEqual(bom.of('pkg:npm/free-words@1.0.0').licenses, [{ license: { name: 'SEE LICENSE IN LICENSE.md' } }]);
    assert.deepEqual(needs(bom, 'pkg:npm/made@1.0.0'), ['pkg:npm/free-words@1.0.0']);
    assert.deepEqual(needs(bom, 'pkg:npm/free-words@1.0.0'), ['pkg:npm/%40acme/library@2.0.0']);
    assert.equal(bom.document.compositions[0].aggregate, 'complete');
  });

  test('It is the same each time, with the time of the installation, until another version is installed', async () => {
    const first = await sbom('made');
    assert.equal((await sbom('made')).out, first.out);
    const { record } = JSON.parse(fs.readFileSync(path.join(place.servers, 'made/origin.json'), 'utf8'));
    assert.equal(first.document.metadata.timestamp, record.installed);
    registry.publish('made', '1.1.0', { license: 'MIT' });
    assert.equal((await place.cellblock('update', '--yes', 'made')).code, 0);
    const second = await sbom('made');
    assert.equal(second.server.version, '1.1.0');
    assert.notEqual(second.document.serialNumber, first.document.serialNumber);
    assert.equal((await place.cellblock('update', '--rollback', 'made')).code, 0);
    assert.equal((await sbom('made')).out, first.out);
  });

  test('Of a package of PyPI it has each wheel with its hash and licence', async () => {
    await add('wheel', ['uvx', 'wheel-server', place.project], ['--write', place.project]);
    const bom = await sbom('wheel');
    const [bytes] = registry.wheels.get('lib-wheel').values();
    assert.deepEqual(bom.server.licenses, [{ license: { id: 'ISC' } }]);
    const library = bom.of('pkg:pypi/lib-wheel@1.5.0');
    assert.deepEqual(library.hashes, [{ alg: 'SHA-256', content: digest('sha256', bytes) }]);
    assert.deepEqual(library.licenses, [{ license: { name: 'MIT License' } }]);
    assert.deepEqual(needs(bom, 'pkg:pypi/wheel-server@1.0.0'), ['pkg:pypi/lib-wheel@1.5.0']);
  });

  test('Of a bundle it has the digest of the archive, and says that it is not all', async () => {
    const file = path.join(place.home, 'notes.mcpb');
    const packed = { lockfileVersion: 3, packages: { 'node_modules/inner': { version: '3.0.0', license: 'MIT' } } };
    writeBundle(file, { license: 'Apache-2.0', members: [
      ['node_modules/.package-lock.json', JSON.stringify(packed), 0o100644], ['node_modules/inner/package.json', '{}', 0o100644]] });
    fs.chownSync(file, user, user);
    await add('notes', [file]);
    const bom = await sbom('notes');
    assert.deepEqual(bom.server.hashes, [{ alg: 'SHA-256', content: digest('sha256', fs.readFileSync(file)) }]);
    assert.deepEqual(bom.server.licenses, [{ license: { id: 'Apache-2.0' } }]);
    assert.deepEqual(bom.document.components.map(({ purl }) => purl), ['pkg:npm/inner@3.0.0']);
    assert.equal(bom.document.compositions[0].aggregate, 'incomplete');
  });

  test('Of an image it has its digest', { skip: missingTools.length > 0 && `needs ${missingTools.join(', ')}` }, async () => {
    const layout = new Layout(path.join(place.directory, 'images'));
    layout.publish('v1', { Entrypoint: ['server'], Env: ['PATH=/bin'] }, [layout.layer(putServer)]);
    await add('boxed', ['docker', 'run', '-i', '--rm', layout.reference('v1')]);
    const { server, document } = await sbom('boxed');
    const { digest: expected } = layout.manifests.get('v1');
    assert.equal(server.type, 'container');
    assert.deepEqual(server.hashes, [{ alg: 'SHA-256', content: expected.slice('sha256:'.length) }]);
    assert.equal(document.compositions[0].aggregate, 'incomplete');
  });

  test('Of a server that was not added there is none, and not together with an audit', async () => {
    assert.match((await place.cellblock('servers', '--sbom', 'missing')).err, /"missing" was not added by `cellblock add`/);
    assert.equal((await place.cellblock('servers', '--sbom', 'missing')).code, 4);
    assert.equal((await place.cellblock('servers', '--sbom', 'made', '--audit')).code, 2);
  });

  test('A lock file that nobody can read is an error', async () => {
    const { directory } = JSON.parse(fs.readFileSync(path.join(place.servers, 'made/origin.json'), 'utf8'));
    fs.writeFileSync(path.join(directory, 'package-lock.json'), '{"packages":');
    const { code, err } = await place.cellblock('servers', '--sbom', 'made');
    assert.equal(code, 1);
    assert.match(err, /package-lock\.json: it is no JSON/);
  });
});
