// Packages of a private registry of npm: the token of the user's `.npmrc` goes to it, and nowhere else.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';

import { inBothModes, textOf, user } from './support/place.mjs';
import { Registry } from './support/registry.mjs';

const token = 'npm_hush-hush-hush';
const looking = `const fs = require('fs');
const seen = fs.existsSync('/run/secrets/NPM_CREDENTIALS') || /hush/.test(JSON.stringify(process.env));
fs.writeFileSync(seen ? 'token' : 'no-token', '');`;
const publish = (registry) => registry.publish('shared-library', '1.0.0');

function filesBelow(directory) {
  return fs.readdirSync(directory, { recursive: true }).map((name) => path.join(directory, name)).filter((name) => fs.statSync(name).isFile());
}

inBothModes(publish, ({ registry, place }) => {
  const corp = new Registry();
  const npmrc = (lines) => {
    const file = path.join(place.home, '.npmrc');
    fs.writeFileSync(file, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
    fs.chownSync(file, user, user);
  };
  const scope = () => `@corp:registry=${corp.url}`;
  const credential = (value) => `${corp.url.replace('http:', '')}:_authToken=${value}`;

  before(async () => {
    await corp.start();
    corp.token = token;
    corp.publish('@corp/made', '1.0.0', { dependencies: { 'shared-library': '1.0.0' }, scripts: { postinstall: 'node look.js' },
                                          files: { 'look.js': looking } });
  });
  after(() => corp.stop());

  test('Without the token nothing is installed, and nothing stays', async () => {
    npmrc([scope()]);
    const added = await place.add('made', ['npx', '@corp/made']);
    assert.equal(added.code, 1);
    assert.match(added.err, /could not be installed|E401|Unauthorized/i);
    assert.deepEqual(place.remains(), []);
  });

  test('A token whose variable is not there is named', async () => {
    npmrc([scope(), credential('${CORP_TOKEN}')]);
    const added = await place.add('made', ['npx', '@corp/made']);
    assert.equal(added.code, 1);
    assert.match(added.err, /_authToken in \.npmrc is \$\{CORP_TOKEN\}, and your environment has no such variable/);
  });

  test('With the token the package is installed, and what it needs from the other registry', async () => {
    const words = ['cellblock', 'add', 'made', '--yes', ...place.allowed, '--', 'npx', '@corp/made'];
    const added = await place.run(words, { env: { CORP_TOKEN: token } });
    assert.equal(added.code, 0, added.err);
    assert.ok(added.err.includes(`in a cell that reaches ${corp.url} and ${registry.url} alone`), added.err);
    assert.ok(registry.asked.some((asked) => asked.startsWith('shared-library')));
    assert.deepEqual([...corp.authorizations], [`Bearer ${token}`]);
    assert.deepEqual([...registry.authorizations], []);
  });

  test('The token is in no file that stays, in no output, and not in the server', async () => {
    const [version] = fs.readdirSync(path.join(place.servers, 'made')).filter((name) => name !== 'origin.json');
    const kept = [...filesBelow(path.join(place.servers, 'made')), ...filesBelow(place.configuration)];
    assert.ok(kept.length > 3 && version);
    for (const file of kept) assert.ok(!fs.readFileSync(file, 'latin1').includes(token), file);
    assert.deepEqual(place.remains('made'), []);
    if (!place.isSystem) await place.start();
    assert.doesNotMatch(textOf(await place.call('made', 'environment')), /hush|NPM_CREDENTIALS|npm_config/);
  });

  test('What a package runs at its installation does not see it', async () => {
    npmrc([scope(), credential(token)]);
    const added = await place.add('running', ['npx', '@corp/made'], ['--allow-scripts']);
    assert.equal(added.code, 0, added.err);
    assert.doesNotMatch(added.err + added.out, /hush/);
    assert.match(textOf(await place.call('running', 'files')), /\bno-token\b/);
  });

  test('What a package would have fetched by git is not fetched, since npm would run it', async () => {
    corp.publish('@corp/by-git', '1.0.0', { dependencies: { elsewhere: `git+${corp.url}elsewhere.git` } });
    const before = corp.asked.length;
    const added = await place.add('by-git', ['npx', '@corp/by-git']);
    assert.equal(added.code, 1);
    assert.match(added.err, /git/);
    assert.deepEqual(corp.asked.slice(before).filter((asked) => asked.includes('elsewhere')), []);
    assert.deepEqual(place.remains('made', 'running'), []);
  });

  test('An update has the token too', async () => {
    corp.publish('@corp/made', '1.1.0');
    const updated = await place.cellblock('update', '--yes', 'made');
    assert.equal(updated.code, 0, updated.err);
    assert.match(updated.err, /1\.0\.0 -> 1\.1\.0/);
  });

  test('An audit asks the private registry with the token, and says it nowhere', async () => {
    const before = corp.asked.length;
    const audited = await place.cellblock('servers', '--audit');
    assert.ok([0, 16].includes(audited.code), audited.err);
    assert.ok(corp.asked.slice(before).includes('@corp/made'));
    assert.doesNotMatch(audited.out + audited.err, /hush|could not/);
    assert.deepEqual(place.remains('made', 'running'), []);
    assert.deepEqual([...registry.authorizations], []);
  });

  test('A registry of everything has its token as well', async () => {
    const words = ['cellblock', 'add', 'alone', '--yes', ...place.allowed, '--', 'npx', '@corp/made@1.1.0'];
    npmrc([credential(token)]);
    const added = await place.run(words, { env: { npm_config_registry: corp.url } });
    assert.equal(added.code, 0, added.err);
    assert.ok(added.err.includes(`in a cell that reaches ${corp.url} alone`), added.err);
  });
});
