// `cellblock add`: one line of a host's configuration becomes a confined server that works. Packages come
// from a registry of the test's own, hostile ones too. Rootless, and in system mode.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { Daemon, hostId } from './support/daemon.mjs';
import { Registry } from './support/registry.mjs';

const [v1] = sdks;
const left = ['made', 'secretive', 'scripted', 'running', 'first-one'];
const isRoot = process.getuid() === 0;
const user = isRoot ? hostId : process.getuid();
const daemonId = 64001;
const textOf = ({ content }) => content.map(({ text }) => text).join('\n');

// A place in which `cellblock add` works, and a daemon for what it declares.
class Place {
  constructor(isSystem) {
    this.isSystem = isSystem;
    this.programs = new Daemon(); // its programs alone
    this.directory = this.programs.directory;
    this.home = path.join(this.directory, 'user');
    this.project = path.join(this.home, 'project');
    this.runtime = path.join(this.directory, isSystem ? 'run' : 'user/run');
    this.socket = path.join(this.runtime, isSystem ? 's' : 'cellblock/cellblock.sock');
    this.configuration = path.join(this.directory, isSystem ? 'etc' : 'user/.config/cellblock');
    this.servers = path.join(this.directory, isSystem ? 'etc/servers' : 'user/.local/share/cellblock/servers');
  }

  async make(registry) {
    await this.programs.prepare();
    const built = process.env.CELLBLOCK_TEST_BIN;
    fs.cpSync(path.join(built, '../share'), path.join(this.directory, 'share'), { recursive: true });
    for (const one of [this.home, this.project, path.join(this.home, 'run')]) {
      fs.mkdirSync(one, { mode: 0o700 });
      fs.chownSync(one, user, user);
    }
    this.env = { PATH: `${this.directory}/bin:${path.dirname(process.execPath)}:/usr/bin:/bin`, HOME: this.home, TERM: 'dumb',
                 npm_config_registry: registry.url, npm_config_noproxy: '127.0.0.1', npm_config_cache: path.join(this.home, '.npm'),
                 PIP_INDEX_URL: `${registry.url}simple`, ASAN_OPTIONS: 'detect_leaks=0' };
    if (!this.isSystem) {
      this.env.XDG_RUNTIME_DIR = this.runtime;
      return;
    }
    fs.mkdirSync(this.configuration);
    this.env.CELLBLOCK_CONFIG = path.join(this.configuration, 'cellblock.toml');
    this.env.CELLBLOCK_SOCKET = this.socket;
    fs.writeFileSync(this.env.CELLBLOCK_CONFIG, `[daemon]\nuser = ${daemonId}\ngroup = ${daemonId}
id_range = { first = 1600000000, count = 4096 }
state_directory = "${this.directory}/state"\naudit_log = "${this.directory}/audit.log"
[socket]\npath = "${this.socket}"\nmode = "0666"\n`);
  }

  // As the user, or in system mode as root unless it is said otherwise.
  spawn(words, { asUser = !this.isSystem, env = {}, stdio = ['ignore', 'pipe', 'pipe'] } = {}) {
    const drop = isRoot && asUser ? ['setpriv', '--reuid', `${user}`, '--regid', `${user}`, '--clear-groups', '--'] : [];
    const [command, ...args] = [...drop, ...words];
    return spawn(command, args, { env: { ...this.env, ...env }, cwd: asUser ? this.home : '/', stdio });
  }

  async run(words, options) {
    const child = this.spawn(words, options);
    const told = { out: '', err: '' };
    child.stdout.on('data', (chunk) => { told.out += chunk; });
    child.stderr.on('data', (chunk) => { told.err += chunk; });
    const [code, signal] = await once(child, 'close');
    return { code: code ?? signal, ...told };
  }

  cellblock(...words) {
    return this.run(['cellblock', ...words]);
  }

  // Types that answer at each question; gives what the terminal showed.
  async answer(word, words, options = {}) {
    const line = words.map((one) => `'${one}'`).join(' ');
    const child = this.spawn(['script', '-qefc', line, '/dev/null'], { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    let shown = '';
    let answered = 0;
    child.stdout.on('data', (chunk) => {
      shown += chunk;
      const questions = shown.split('[y/N] ').length - 1;
      for (; answered < questions; ++answered) child.stdin.write(`${word}\n`);
    });
    await once(child, 'close');
    return shown;
  }

  add(name, words, options = []) {
    const allowed = this.isSystem ? ['--allow', `${user}`] : [];
    return this.cellblock('add', name, '--yes', ...allowed, ...options, '--', ...words);
  }

  async start() {
    const config = this.isSystem ? ['--config', this.env.CELLBLOCK_CONFIG] : ['--user'];
    this.process = this.spawn(['cellblockd', ...config], { stdio: ['ignore', 'ignore', 'pipe'] });
    let log = '';
    await new Promise((resolve, reject) => {
      this.process.stderr.on('data', (chunk) => {
        log += chunk;
        if (log.includes('ready on')) resolve();
      });
      this.process.once('exit', () => reject(new Error(log)));
    });
  }

  async stop() {
    if (this.process?.exitCode === null) {
      this.process.kill('SIGTERM');
      await once(this.process, 'exit');
    }
    fs.rmSync(this.directory, { recursive: true, force: true });
  }

  // Calls a tool as an agent's host does.
  call(server, tool, args) {
    return this.callThrough(['connect', server], tool, args);
  }

  async callThrough(words, tool, args = {}) {
    const drop = isRoot ? ['setpriv', '--reuid', `${user}`, '--regid', `${user}`, '--clear-groups', '--'] : [];
    const [command, ...rest] = [...drop, path.join(this.directory, 'bin/cellblock'), ...words];
    const { client, call } = await connect(v1, { command, args: rest, env: { ...this.env, CELLBLOCK_SOCKET: this.socket }, stderr: 'ignore' });
    try {
      return await call(tool, args);
    } finally {
      await client.close();
    }
  }

  declaration(name) {
    return path.join(this.configuration, 'servers.d', `${name}.toml`);
  }

  isDeclared(name) {
    return fs.existsSync(this.declaration(name));
  }

  // What is left of installations besides the servers named.
  remains(...servers) {
    if (!fs.existsSync(this.servers)) return [];
    return fs.readdirSync(this.servers).filter((name) => name !== '.lock' && !servers.includes(name));
  }
}

function publishAll(registry) {
  registry.publishWheel('wheel-server', '1.0.0');
  registry.publishWheel('wheel-broken', '1.0.0', { fails: 'no license key' });
  registry.publishWheel('wheel-bare', '1.0.0', { script: '' });
  registry.publishFile('source-only', 'source_only-1.0.0.tar.gz', Buffer.from('no archive'));
  registry.publish('made', '1.0.0');
  registry.publish('@scope/scripted', '1.0.0', {
    scripts: { postinstall: 'node script.js' },
    files: { 'script.js': `let reached = 'no network';
require('http').get('${registry.url}made', () => { require('fs').writeFileSync('network', ''); })
  .on('error', () => require('fs').writeFileSync('ran', reached));` },
  });
  registry.publish('broken', '1.0.0', { fails: 'no license key' });
  registry.publish('toolless', '1.0.0', { bin: undefined });
  registry.publish('elsewhere', '1.0.0', { dependencies: { other: 'http://127.0.0.1:9/other.tgz' } });
  const scripted = (script) => ({ scripts: { postinstall: 'node script.js' }, files: { 'script.js': `const fs = require('fs');\n${script}` } });
  registry.publish('linking', '1.0.0', scripted("fs.symlinkSync('/etc/passwd', '/out/tree/node_modules/linking/passwd');"));
  registry.publish('renaming', '1.0.0', scripted(`const file = '/out/tree/node_modules/renaming/package.json';
const description = JSON.parse(fs.readFileSync(file));
fs.writeFileSync(file, JSON.stringify({ ...description, version: '9.9.9/../../../../x', bin: '../../../../../bin/sh' }));`));
  registry.publish('killing', '1.0.0', scripted(`for (const name of fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))) {
  if (Number(name) !== process.pid) try { process.kill(Number(name), 'SIGKILL'); } catch { }
}`));
  registry.publish('hiding', '1.0.0', scripted(`fs.mkdirSync('/out/hidden');
fs.writeFileSync('/out/hidden/large', 'x');
fs.chmodSync('/out/hidden', 0);
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600_000);`));
  registry.publish('outside', '1.0.0', { bin: { outside: '../../../etc/passwd' } });
}

for (const isSystem of [false, true]) {
  const skip = isSystem && !isRoot ? 'needs root' : false;
  describe(isSystem ? 'in system mode' : 'rootless', { skip }, () => {
    const registry = new Registry();
    const place = new Place(isSystem);

    before(async () => {
      await registry.start();
      publishAll(registry);
      await place.make(registry);
      if (isSystem) await place.start();
    });
    after(async () => {
      registry.stop();
      await place.stop();
    });

    test('One line makes a server that writes where it was told, as its user', async () => {
      const added = await place.add('made', ['npx', '-y', 'made', place.project], ['--write', place.project]);
      assert.equal(added.code, 0, added.err);
      assert.match(added.err, /3 tools: write, environment, files/);
      assert.match(added.err, new RegExp(`reads and writes ${place.project}`));
      assert.ok(JSON.parse(added.out).args.includes('connect'));
      assert.match(fs.readFileSync(place.declaration('made'), 'utf8'), /"write",|"write"/);
      assert.deepEqual(place.remains('made'), []);
      if (!isSystem) await place.start();
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
      const allowed = isSystem ? ['--allow', `${user}`] : [];
      const words = ['cellblock', 'import', file, '--install', ...allowed];
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

    test('A package of PyPI is updated and taken back', async () => {
      registry.publishWheel('wheel-server', '1.1.0', { tools: ['files', 'format_disk'] });
      const updated = await place.cellblock('update', '--yes', 'wheel');
      assert.match(updated.out, /1\.0\.0 -> 1\.1\.0/, updated.err);
      assert.match(updated.err, /new, and not allowed .*format_disk/);
      assert.match((await place.cellblock('update', '--rollback', 'wheel')).out, /1\.1\.0 -> 1\.0\.0/);
      assert.match(textOf(await place.call('wheel', 'files')), /__init__\.py/);
      assert.equal((await place.cellblock('remove', '--yes', 'wheel')).code, 0);
    });

    test('A description of a registry is enough to add its server', async () => {
      const file = path.join(place.home, 'server.json');
      fs.writeFileSync(file, JSON.stringify({
        name: 'org.example/described', version: '1.0.0',
        packages: [{ registryType: 'pypi', identifier: 'wheel-server', version: '1.0.0', transport: { type: 'stdio' } }] }));
      const allowed = isSystem ? ['--allow', `${user}`] : [];
      const added = await place.cellblock('import', file, '--install', '--yes', ...allowed);
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

    test('A server that does not start is not added, and its last words are told', async () => {
      const added = await place.add('broken', ['npx', 'broken']);
      assert.notEqual(added.code, 0);
      assert.match(added.err, /no license key/);
      assert.ok(!place.isDeclared('broken'));
    });

    const refused = {
      'A package that is not there': [['npx', 'nobodys'], /404/],
      'A package without a program': [['npx', 'toolless'], /has no program to start/],
      'A program outside of its package': [['npx', 'outside'], /has no program to start|leads out/],
      'A script that leaves a link out': [['npx', 'linking'], /is a link that leads out/, ['--allow-scripts']],
      'A script that renames its package': [['npx', 'renaming'], /has no program to start/, ['--allow-scripts']],
      'A script that ends all it sees': [['npx', 'killing'], /killed by signal 9/, ['--allow-scripts']],
      'A dependency from elsewhere': [['npx', 'elsewhere'], /could not be installed/],
      'A package of PyPI that is not there': [['uvx', 'nobodys'], /No matching distribution/],
      'A package of PyPI without a wheel': [['uvx', 'source-only'], /No matching distribution/],
      'A package of PyPI without a program': [['uvx', 'wheel-bare'], /has no program to start/],
      'A server of PyPI that does not start': [['uvx', 'wheel-broken'], /no license key/],
      'A name that is a path': [['npx', '../made'], /is not the name of a package/],
      'An image': [['docker', 'run', 'image'], /container/],
      'A path that is not there': [['npx', 'made', '/home/nobody/gone'], /is not there/],
    };
    for (const [what, [words, why, options]] of Object.entries(refused)) {
      test(`${what} is refused, and leaves nothing`, async () => {
        const added = await place.add('refused', words, options);
        assert.notEqual(added.code, 0);
        assert.match(added.err, why);
        assert.ok(!place.isDeclared('refused'));
        assert.deepEqual(place.remains(...left), []);
      });
    }

    test('A directory that a script has closed to us ends it, and is removed', { skip: isSystem && 'root reads all' }, async () => {
      const added = await place.add('refused', ['npx', 'hiding'], ['--allow-scripts']);
      assert.equal(added.code, 1);
      assert.match(added.err, /hidden.* cannot be read/);
      assert.deepEqual(place.remains(...left), []);
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

    for (const signal of ['SIGINT', 'SIGTERM']) {
      test(`${signal} in the middle of it leaves nothing behind`, async () => {
        registry.hangs = /^slow$/;
        registry.asked = [];
        const allowed = isSystem ? ['--allow', `${user}`] : [];
        const child = place.spawn(['cellblock', 'add', 'slow', '--yes', ...allowed, '--', 'npx', 'slow']);
        await registry.wasAsked(/^slow$/);
        // setpriv has become the command by now.
        child.kill(signal);
        const [code] = await once(child, 'exit');
        assert.equal(code, 1);
        assert.deepEqual(place.remains(...left), []);
      });
    }

    test('What SIGKILL left is cleared away by the next one, its daemon included', async () => {
      registry.asked = [];
      const allowed = isSystem ? ['--allow', `${user}`] : [];
      const child = place.spawn(['cellblock', 'add', 'slow', '--yes', ...allowed, '--', 'npx', 'slow']);
      await registry.wasAsked(/^slow$/);
      if (isSystem) {
        const [scratch] = place.remains(...left);
        const out = path.join(place.servers, scratch, 'out');
        assert.equal((await place.run(['ls', out])).code, 0, 'root sees it');
        assert.notEqual((await place.run(['ls', out], { asUser: true })).code, 0, 'no other user gets to it');
      }
      const meanwhile = await place.cellblock('remove', '--yes', 'scripted');
      assert.equal(meanwhile.code, 1);
      assert.match(meanwhile.err, /is at work/);
      child.kill('SIGKILL');
      await once(child, 'exit');
      assert.equal(place.remains(...left).length, 1);
      registry.hangs = null;
      const added = await place.add('again', ['npx', 'made@1.0.0']);
      assert.equal(added.code, 0, added.err);
      assert.deepEqual(place.remains(...left, 'again'), []);
    });

    test('An update without a newer version changes nothing', async () => {
      for (const version of ['1.1.0', '1.2.0']) registry.packages.get('made').delete(version);
      const { code, out, err } = await place.cellblock('--json', 'update', '--yes', 'again');
      assert.equal(code, 0, err);
      assert.deepEqual(JSON.parse(out).server, 'again');
      assert.doesNotMatch(err, /reloaded/);
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

    test('With --home what it kept goes as well', { skip: isSystem && 'each user has a home of its own' }, async () => {
      assert.equal((await place.cellblock('remove', '--yes', '--home', 'again')).code, 0);
      assert.ok(!place.isDeclared('again'));
    });
  });
}
