// `cellblock setup`: from nothing to a host whose servers run in cells.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

import { rootless, user } from './support/place.mjs';

const isRoot = process.getuid() === 0;
const publish = (registry) => registry.publish('made', '1.0.0');

rootless(publish, ({ place }) => {
  const write = (name, text, mode = 0o600) => {
    const file = path.join(place.home, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text, { mode });
    for (let one = file; one !== place.home; one = path.dirname(one)) fs.chownSync(one, user, user);
    return file;
  };
  const hosts = JSON.stringify({ mcpServers: { made: { command: 'npx', args: ['-y', 'made'] } } });
  const read = (name) => fs.readFileSync(path.join(place.home, name), 'utf8');
  // In an image that has one, systemd's would be asked.
  const withSystemctl = (script) => {
    const directory = fs.mkdtempSync(path.join(place.directory, 'systemd.'));
    fs.writeFileSync(path.join(directory, 'systemctl'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    fs.chmodSync(directory, 0o755);
    return { PATH: `${directory}:${place.env.PATH}` };
  };

  test('Nothing is done without a yes where nobody can be asked', async () => {
    const done = await place.cellblock('setup');
    assert.equal(done.code, 1);
    assert.match(done.err, /--yes does it without a question/);
  });

  test('It is for users: root is told what to do for the system', { skip: !isRoot }, async () => {
    const done = await place.run(['cellblock', 'setup', '--yes'], { asUser: false });
    assert.equal(done.code, 1);
    assert.match(done.err, /as an ordinary user\. The system's: .systemctl enable --now cellblock\.socket/);
  });

  test('A no to everything changes nothing', async () => {
    write('.cursor/mcp.json', hosts);
    const shown = await place.answer('n', ['cellblock', 'setup']);
    assert.match(shown, /Cursor, .*mcp\.json: made/);
    assert.match(shown, /no server yet: /);
    assert.equal(read('.cursor/mcp.json'), hosts);
    assert.ok(!place.isDeclared('made'));
    assert.ok(!fs.existsSync(path.join(place.configuration, 'cellblock.toml')));
  });

  test('Servers outside cells are found in the home of who asks, also of an id without an account', async () => {
    const scanned = await place.cellblock('scan');
    assert.equal(scanned.code, 15, scanned.err);
    assert.match(scanned.out, /Cursor[^]*made/);
    const lost = await place.run(['cellblock', 'scan'], { env: { HOME: '' } });
    assert.match(lost.err, /no home directory is known here: set HOME/);
    assert.notEqual(lost.code, 0);
  });

  test('It makes the configuration without which the daemon does not start', async () => {
    const done = await place.cellblock('setup', '--yes');
    assert.ok(fs.existsSync(path.join(place.configuration, 'cellblock.toml')), done.err);
    await place.cellblock('remove', '--yes', 'made');
    fs.rmSync(path.join(place.configuration, 'cellblock.toml'));
    write('.cursor/mcp.json', hosts);
  });

  test('A file of the user is checked and explained as the configuration of the user', async () => {
    const file = write('draft.toml', '[server.made]\ncommand = ["/bin/true"]\nallow = { users = ["root"], tools = ["x"] }\n');
    const checked = await place.cellblock('check', file);
    assert.match(checked.out, /draft\.toml: usable, 1 server/);
    assert.match(checked.err, /read as with --user/);
    assert.equal((await place.cellblock('explain', 'made', '--config', file)).code, 0);
    const swapped = await place.cellblock('explain', 'made', 'read_file', '--config', file);
    assert.equal(swapped.code, 2);
    assert.match(swapped.err, /no server "read_file" is declared; the user comes first: USER SERVER/);
    assert.match((await place.cellblock('--system', 'check', file)).out, /not usable/);
    fs.rmSync(file);
  });

  test('Without systemd it says how the daemon is started, and adds the servers all the same', async () => {
    write('.gemini/settings.json', 'no JSON');
    const done = await place.cellblock('setup', '--yes');
    assert.equal(done.code, 6, done.err);
    assert.match(done.out, /user namespaces/);
    assert.match(done.err, /no systemd runs services of yours: run `cellblockd --user`/);
    assert.match(done.err, /left out: .*settings\.json: it is no/);
    assert.match(done.err, /1 of 1 servers added/);
    assert.ok(place.isDeclared('made'));
    fs.rmSync(path.join(place.home, '.gemini'), { recursive: true });
  });

  test('The host has become one that starts cellblock', () => {
    assert.deepEqual(JSON.parse(read('.cursor/mcp.json')).mcpServers.made, { command: 'cellblock', args: ['--user', 'connect', 'made'] });
  });

  test('Where systemd runs services of the user it enables the socket, and says so where that fails', async () => {
    write('run/systemd/private', '');
    const asked = path.join(place.home, 'asked');
    const unknown = await place.run(['cellblock', 'setup', '--yes'], { env: withSystemctl('exit 1') });
    assert.match(unknown.err, /systemd does not know cellblock's user units: run `cellblockd --user`/);
    await place.run(['cellblock', 'setup', '--yes'], { env: withSystemctl(`echo "$@" >> ${asked}`) });
    assert.match(fs.readFileSync(asked, 'utf8'), /^--user enable --now cellblock\.socket$/m);
    const failing = await place.run(['cellblock', 'setup', '--yes'], { env: withSystemctl('[ "$2" = cat ] || { echo no bus >&2; exit 1; }') });
    assert.equal(failing.code, 1);
    assert.match(failing.err, /`systemctl --user enable --now cellblock\.socket` failed:\s+no bus/);
  });

  test('A server of whose name cellblock has one is told, and not asked about again', async () => {
    const before = read('.cursor/mcp.json');
    write('.cursor/mcp.json', JSON.stringify({ mcpServers: { made: { command: 'npx', args: ['-y', 'made', '--other'] } } }));
    const shown = await place.answer('n', ['cellblock', 'setup']);
    assert.match(shown, /cellblock has made already, declared otherwise/);
    assert.doesNotMatch(shown, /Add these, each in a cell/);
    write('.cursor/mcp.json', before);
  });

  test('Given again with a daemon it finds nothing left to add, and ends with a server that answers', async () => {
    await place.start();
    const done = await place.cellblock('setup', '--yes');
    assert.equal(done.code, 0, done.err);
    assert.match(done.err, /cellblockd serves you already/);
    assert.match(done.err, /no host here has a server that cellblock lacks/);
    assert.match(done.out, /environment/);
    assert.match(done.err, /"made" answers, from its cell/);
  });

  test('It ends with 1 where a server that was agreed to was not added, though another one answers', async () => {
    write('.cursor/mcp.json', JSON.stringify({ mcpServers: { missing: { command: 'npx', args: ['-y', 'missing'] } } }));
    const done = await place.cellblock('setup', '--yes');
    assert.match(done.err, /0 of 1 servers added/);
    assert.match(done.err, /"made" answers, from its cell/);
    assert.match(done.err, /not all servers were added/);
    assert.equal(done.code, 1);
  });
});
