// `cellblock add NAME -- docker run ...`: an image becomes a server in a cell, without an engine. Hostile images get nothing.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as path from 'node:path';
import { before, test } from 'node:test';

import { Layout, missingTools, putFile, putServer } from './support/images.mjs';
import { inBothModes, textOf, user } from './support/place.mjs';

const skip = missingTools.length > 0 && `needs ${missingTools.join(', ')}`;
const config = { Entrypoint: ['server'], Env: ['PATH=/bin', 'OF_IMAGE=yes', 'HOME=/root'], WorkingDir: '/app', User: '0' };

function putApplication(directory) {
  putServer(directory);
  putFile(directory, 'app/data.txt', 'of the image');
  putFile(directory, 'root/closed', 'of root', 0o600);
}

function putHostile(directory) {
  putServer(directory);
  fs.chmodSync(path.join(directory, 'bin/server'), 0o4755);
  fs.mkdirSync(path.join(directory, 'tmp'), { mode: 0o777 });
  fs.symlinkSync('/etc/shadow', path.join(directory, 'whole'));
  fs.symlinkSync('../../../../../../../usr/bin/env', path.join(directory, 'up'));
  fs.symlinkSync('/proc/1/root', path.join(directory, 'etc'));
  if (process.getuid() === 0) execFileSync('mknod', [path.join(directory, 'disk'), 'b', '7', '0']);
}

inBothModes(() => {}, ({ place }) => {
  let layout;
  let base;
  const line = (tag, ...options) => ['docker', 'run', '-i', '--rm', ...options, layout.reference(tag)];
  const read = async (server, file) => textOf(await place.call(server, 'read_file', { path: file }));

  before(() => {
    layout = new Layout(path.join(place.directory, 'images'));
    base = layout.layer(putApplication);
    layout.publish('v1', config, [base]);
  });

  test('One line makes a server of an image, with its entry point, directory and variables', { skip }, async () => {
    const options = ['-e', 'MODE=quick', '-e', 'API_TOKEN=hush-hush-hush', '-v', `${place.project}:/data`, '-u', '0'];
    const added = await place.add('boxed', line('v1', ...options));
    assert.equal(added.code, 0, added.err);
    assert.match(added.err, /in a cell that reaches nothing/);
    assert.match(added.err, /not taken over: --user: a cell has an id of its own/);
    assert.match(added.err, /reads the image .*rootfs in place of the host's programs/);
    assert.doesNotMatch(fs.readFileSync(place.declaration('boxed'), 'utf8'), /hush/);
    assert.deepEqual(place.remains('boxed'), []);
    if (!place.isSystem) await place.start();
    const environment = await read('boxed', '/proc/self/environ');
    for (const variable of ['MODE=quick', 'OF_IMAGE=yes', 'PATH=/bin', 'HOME=/home/mcp', 'API_TOKEN=[']) {
      assert.ok(environment.includes(variable), variable);
    }
    assert.equal(await read('boxed', 'data.txt'), 'of the image');
    assert.equal(await read('boxed', '/root/closed'), 'of root');
    assert.match(await read('boxed', '/usr/bin/env'), /^cannot open/);
    assert.match(textOf(await place.call('boxed', 'list_directory', { path: '/' })), /^app bin data dev etc home/);
  });

  test('What is mounted belongs to its user', { skip }, async () => {
    fs.writeFileSync(path.join(place.project, 'note'), 'of the user');
    fs.chownSync(path.join(place.project, 'note'), user, user);
    fs.chmodSync(path.join(place.project, 'note'), 0o600);
    assert.equal(await read('boxed', '/data/note'), 'of the user');
  });

  test('The list names the image and its digest', { skip }, async () => {
    assert.match((await place.cellblock('servers')).out, /^boxed +oci:.*:v1 sha256-[0-9a-f]{12}$/m);
  });

  test('An update shows a new entry point, keeps the declared one, and is taken back', { skip }, async () => {
    const same = await place.cellblock('update', '--yes', 'boxed');
    assert.match(same.out + same.err, /is the newest/);
    const more = layout.layer((directory) => putFile(directory, 'app/data.txt', 'of the second'));
    layout.publish('v1', { ...config, Cmd: ['--more'] }, [base, more]);
    const audited = await place.cellblock('--json', 'servers', '--audit');
    assert.equal(audited.code, 16, audited.err);
    const [{ findings }] = JSON.parse(audited.out).servers.filter(({ server }) => server === 'boxed');
    assert.deepEqual(findings.map(({ kind }) => kind), ['behind']);
    const updated = await place.cellblock('update', '--yes', 'boxed');
    assert.equal(updated.code, 0, updated.err);
    assert.match(updated.err, /now started by "server --more", before by "server"/);
    assert.equal(await read('boxed', 'data.txt'), 'of the second');
    assert.equal((await place.cellblock('update', '--rollback', 'boxed')).code, 0);
    assert.equal(await read('boxed', 'data.txt'), 'of the image');
  });

  test('Links out, set-id files, devices and open directories of a hostile image get it nothing', { skip }, async () => {
    layout.publish('hostile', config, [layout.layer(putHostile)]);
    const added = await place.add('hostile', line('hostile'));
    assert.equal(added.code, 0, added.err);
    assert.match(added.err, /\/app, which the image lacks/);
    for (const file of ['/whole', '/up']) assert.match(await read('hostile', file), /^cannot open/);
    assert.match(await read('hostile', '/etc/passwd'), /^mcp:x:1000/);
    const [version] = fs.readdirSync(path.join(place.servers, 'hostile')).filter((name) => name !== 'origin.json');
    const rootfs = path.join(place.servers, 'hostile', version, 'rootfs');
    assert.equal(fs.statSync(path.join(rootfs, 'bin/server')).mode & 0o7777, 0o755);
    assert.equal(fs.statSync(path.join(rootfs, 'tmp')).mode & 0o7777, 0o755);
    assert.ok(!fs.existsSync(path.join(rootfs, 'disk')) || fs.statSync(path.join(rootfs, 'disk')).isFile());
  });

  const refused = {
    'The network of the host': [() => line('v1', '--network', 'host'), /--egress NAME:PORT/],
    'A right': [() => line('v1', '--privileged'), /no capability/],
    'An image that is not there': [() => line('none'), /could not be installed/],
    'An image of 129 layers': [() => line('tall'), /129 layers; allowed: at most 128/],
    'An image of 3 GiB': [() => line('huge'), /more than 200000 files or 2 GiB/],
    'An image that names no program': [() => line('empty'), /says nothing that is run/],
    'A program that the image lacks': [() => line('v1', '--entrypoint', '/usr/bin/env'), /is no program of the image/],
  };
  before(() => {
    layout.publish('tall', config, Array(129).fill(base));
    layout.publish('empty', {}, [base]);
    const sparse = (directory) => {
      putFile(directory, 'hole', '');
      fs.truncateSync(path.join(directory, 'hole'), 3 * 2 ** 30);
    };
    layout.publish('huge', config, [layout.layer(sparse, ['--sparse', '--format=posix'])]);
  });
  for (const [what, [words, why]] of Object.entries(refused)) {
    test(`${what} is refused, and leaves nothing`, { skip }, async () => {
      const added = await place.add('refused', words());
      assert.notEqual(added.code, 0);
      assert.match(added.err, why);
      assert.ok(!place.isDeclared('refused'));
      assert.deepEqual(place.remains('boxed', 'hostile'), []);
    });
  }

  test('A line of a configuration gets a variable of ours where it is named', { skip }, async () => {
    const file = path.join(place.home, 'mcp.json');
    const [command, ...args] = line('v1', '-e', 'SERVICE_TOKEN');
    fs.writeFileSync(file, JSON.stringify({ mcpServers: { imported: { command, args } } }));
    const words = ['cellblock', 'import', file, '--install', '--yes', ...place.allowed];
    const env = { SERVICE_TOKEN: 'hush-hush-hush' };
    assert.match((await place.run(words, { env })).err, /SERVICE_TOKEN has no value: --env SERVICE_TOKEN/);
    const added = await place.run([...words, '--env', 'SERVICE_TOKEN'], { env });
    assert.match(added.err, /1 of 1 servers added/);
    assert.match(await read('imported', '/proc/self/environ'), /SERVICE_TOKEN=\[/);
  });

  test('The registry of a file is reached at no private address that nobody has named', { skip }, async () => {
    const file = path.join(place.home, 'mcp.json');
    const asked = [];
    const registry = net.createServer((socket) => { asked.push(socket.destroy()); });
    await new Promise((resolve) => { registry.listen(0, '127.0.0.1', resolve); });
    const { port } = registry.address();
    const args = ['run', '-i', '--rm', `127.0.0.1:${port}/mcp/time`];
    fs.writeFileSync(file, JSON.stringify({ mcpServers: { elsewhere: { command: 'docker', args } } }));
    const words = ['import', file, '--install', '--yes', ...place.allowed];
    const range = `127.0.0.1/32:${port}`;
    assert.ok((await place.cellblock(...words)).err.includes(`not public: --egress ${range}`));
    assert.equal(asked.length, 0);
    assert.match((await place.cellblock(...words, '--egress', range)).err, /could not be installed/);
    assert.notEqual(asked.length, 0);
    registry.close();
  });

  test('A removed image is gone from the disk', { skip }, async () => {
    for (const name of ['boxed', 'hostile', 'imported']) {
      assert.equal((await place.cellblock('remove', '--yes', name)).code, 0);
    }
    assert.deepEqual(place.remains(), []);
  });
});
