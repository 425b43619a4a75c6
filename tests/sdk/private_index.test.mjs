// Packages of a private index of Python: the token of the user's configuration goes to it, and nowhere else.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';

import { inBothModes, textOf, user } from './support/place.mjs';
import { Registry } from './support/registry.mjs';

const token = 'pypi-hush-hush';

inBothModes(() => {}, ({ registry, place }) => {
  const corp = new Registry();
  const write = (name, text) => {
    const file = path.join(place.home, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text, { mode: 0o600 });
    for (let one = file; one !== place.home; one = path.dirname(one)) fs.chownSync(one, user, user);
  };
  const index = (login = '') => `${corp.url.replace('//', `//${login}`)}simple`;
  const add = (name, env) => place.run(
    ['cellblock', 'add', name, '--yes', ...place.allowed, '--', 'uvx', 'wheel-server'], { env: { PIP_INDEX_URL: undefined, ...env } });
  const remove = (name) => place.cellblock('remove', '--yes', name);
  const isSilent = ({ out, err }) => assert.doesNotMatch(out + err, /hush/);

  before(async () => {
    await corp.start();
    corp.login = `ann:${token}`;
    corp.publishWheel('lib-wheel', '1.0.0', { script: '' });
    corp.publishWheel('wheel-server', '1.0.0', { files: {
      'wheel_server-1.0.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: wheel-server\nVersion: 1.0.0\nRequires-Dist: lib-wheel\n' } });
  });
  after(() => corp.stop());

  test('Without the token nothing is installed, and nothing stays', async () => {
    const added = await add('made', { PIP_INDEX_URL: index() });
    assert.equal(added.code, 1);
    assert.match(added.err, /could not be installed/);
    assert.deepEqual(place.remains(), []);
  });

  test('A token that no file can hold is an error that does not repeat it', async () => {
    const added = await add('made', { PIP_INDEX_URL: index('ann:hush%20hush@') });
    assert.equal(added.code, 1);
    assert.match(added.err, /the index at 127\.0\.0\.1 is empty or has characters that no token has/);
    isSilent(added);
  });

  for (const [where, env] of [
    ["in the address, in pip's variable", () => ({ PIP_INDEX_URL: index(`ann:${token}@`) })],
    ["in the address, in pip's configuration", () => {
      write('.config/pip/pip.conf', `[global]\nindex-url = ${index(`ann:${token}@`)}\n`);
      return {};
    }],
    ["in uv's variables for the index that it names", () => (
      { UV_DEFAULT_INDEX: `my-corp=${index()}`, UV_INDEX_MY_CORP_USERNAME: 'ann', UV_INDEX_MY_CORP_PASSWORD: token })],
    ["in the user's netrc file", () => {
      write('.netrc', `machine 127.0.0.1 login ann password ${token}\n`);
      return { UV_INDEX_URL: index() };
    }],
  ]) {
    test(`A token ${where}, gets the package and what it needs`, async () => {
      const added = await add('made', env());
      assert.equal(added.code, 0, added.err);
      assert.ok(added.err.includes(`in a cell that reaches ${index()} alone`), added.err);
      isSilent(added);
      await remove('made');
      for (const file of ['.netrc', '.config/pip/pip.conf']) fs.rmSync(path.join(place.home, file), { force: true });
    });
  }

  test('The token is in no file that stays, not in the server, and was sent to its index alone', async () => {
    assert.equal((await add('made', { PIP_INDEX_URL: index(`ann:${token}@`) })).code, 0);
    const below = path.join(place.servers, 'made');
    const files = [below, place.configuration].flatMap((directory) => fs.readdirSync(directory, { recursive: true }).map((name) => path.join(directory, name)));
    for (const file of files.filter((name) => fs.statSync(name).isFile())) assert.ok(!fs.readFileSync(file, 'latin1').includes(token), file);
    assert.deepEqual(place.remains('made'), []);
    if (!place.isSystem) await place.start();
    assert.doesNotMatch(textOf(await place.call('made', 'environment')), /hush|NETRC|PIP_/);
    assert.deepEqual([...corp.authorizations], [`Basic ${Buffer.from(`ann:${token}`).toString('base64')}`]);
    assert.deepEqual([...registry.authorizations], []);
  });

  test('An audit and an update have the token too', async () => {
    corp.publishWheel('wheel-server', '1.1.0');
    const env = { PIP_INDEX_URL: index(`ann:${token}@`) };
    const audited = await place.run(['cellblock', 'servers', '--audit'], { env });
    assert.equal(audited.code, 16, audited.err);
    assert.match(audited.out, /1\.1\.0 is the newest/);
    const updated = await place.run(['cellblock', 'update', '--yes', 'made'], { env });
    assert.match(updated.err, /1\.0\.0 -> 1\.1\.0/);
    for (const one of [audited, updated]) isSilent(one);
  });
});
