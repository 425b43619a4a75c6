// The manifests of examples/kubernetes, by the schemas of Kubernetes that kubernetes-models carries.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import * as os from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';

const root = path.resolve(import.meta.dirname, '../..');
const require = createRequire(path.join(root, 'tests/fixtures/package.json'));
const { parseAllDocuments } = require('yaml');
const models = path.join(root, 'tests/fixtures/node_modules/kubernetes-models');
const directory = path.join(root, 'examples/kubernetes');

function documents() {
  const files = fs.readdirSync(directory).filter((name) => name.endsWith('.yaml'));
  return files.flatMap((file) =>
    parseAllDocuments(fs.readFileSync(path.join(directory, file), 'utf8')).map((document) => {
      assert.deepEqual(document.errors, [], file);
      return { file, manifest: document.toJS() };
    }));
}

function validate(manifest) {
  const model = require(path.join(models, manifest.apiVersion, `${manifest.kind}.js`))[manifest.kind];
  new model(manifest).validate();
}

const specOf = (manifest) => (manifest.kind === 'DaemonSet' ? manifest.spec.template.spec : manifest.spec);
const named = (kind, name) => documents().find(({ manifest }) => manifest.kind === kind && manifest.metadata.name === name).manifest;

test('each manifest fits its schema', () => {
  assert.deepEqual(documents().map(({ manifest }) => manifest.kind).sort(), ['ConfigMap', 'DaemonSet', 'NetworkPolicy', 'Pod', 'Secret']);
  for (const { file, manifest } of documents()) {
    assert.doesNotThrow(() => validate(manifest), file);
  }
});

test('the schema finds a value of another kind', () => {
  const pod = named('Pod', 'agent');
  pod.spec.containers[0].securityContext.runAsUser = 'agent';
  assert.throws(() => validate(pod), /runAsUser/);
});

test('each volume that is mounted is there, and each file of it that is named', () => {
  const files = { configuration: named('ConfigMap', 'cellblock').data, secrets: named('Secret', 'cellblock').stringData };
  for (const { file, manifest } of documents()) {
    if (!['Pod', 'DaemonSet'].includes(manifest.kind)) continue;
    const { volumes, containers, initContainers = [] } = specOf(manifest);
    const names = volumes.map(({ name }) => name);
    for (const mount of [...containers, ...initContainers].flatMap(({ volumeMounts }) => volumeMounts)) {
      assert.ok(names.includes(mount.name), `${file}: ${mount.name}`);
      if (mount.subPath) assert.ok(mount.subPath in files[mount.name], `${file}: ${mount.subPath}`);
    }
  }
});

test('the sidecar is given what cells need, and neither its agent nor it is root of the node', () => {
  const { hostUsers, initContainers: [daemon], containers: [agent] } = named('Pod', 'agent').spec;
  assert.equal(hostUsers, false);
  assert.deepEqual(daemon.securityContext, {
    procMount: 'Unmasked',
    seccompProfile: { type: 'Localhost', localhostProfile: 'cellblock.json' },
    appArmorProfile: { type: 'Unconfined' } });
  assert.deepEqual(agent.securityContext.capabilities, { drop: ['ALL'] });
  assert.equal(agent.securityContext.runAsNonRoot, true);
});

test('the configuration is one that cellblockd takes', (context) => {
  if (process.getuid() !== 0) return context.skip('only root may check the system\'s configuration');
  const bin = process.env.CELLBLOCK_TEST_BIN ?? path.join(root, 'build/release/bin');
  const place = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'cellblock-kubernetes-'));
  try {
    const file = path.join(place, 'cellblock.toml');
    // A user that this machine has; the image's has another name.
    fs.writeFileSync(file, named('ConfigMap', 'cellblock').data['cellblock.toml'].replace('"agent"', '"nobody"').replace('[daemon]', '[daemon]\nuser = "daemon"'));
    fs.chmodSync(place, 0o755);
    const checked = spawnSync(path.join(bin, 'cellblockd'), ['--config', file, '--check'], { encoding: 'utf8' });
    assert.match(checked.stdout, /: usable, 1 server/, checked.stderr);
  } finally {
    fs.rmSync(place, { recursive: true });
  }
});
