// A user's own directories: server-filesystem reads and writes them, they stay the user's, and another
// user's are refused with the reason. In system mode, two users at once; and rootless.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { Daemon, hostId } from './support/daemon.mjs';

const [v1] = sdks;
const server = '@modelcontextprotocol/server-filesystem';
const isRoot = process.getuid() === 0;
const alice = hostId;
const bob = hostId + 1;
const hosts = 64100;

// A closed home with a closed project in it.
function makeHome(daemon, name, uid) {
  const home = path.join(daemon.directory, name);
  for (const place of [home, path.join(home, 'project')]) {
    fs.mkdirSync(place, { mode: 0o700 });
    fs.chownSync(place, uid, uid);
  }
  return path.join(home, 'project');
}

function as(uid, parameters) {
  const at = parameters.args.indexOf('--reuid');
  const args = [...parameters.args];
  args[at + 1] = args[at + 3] = `${uid}`;
  return { ...parameters, args };
}

const textOf = ({ content }) => content.map(({ text }) => text).join('\n');

function run(daemon, program, ...args) {
  const { stdout, stderr } = spawnSync(path.join(daemon.directory, 'bin', program), args, { encoding: 'utf8' });
  return `${stdout}${stderr}`;
}

async function withClient(parameters, talk) {
  const { client, call } = await connect(v1, parameters);
  try {
    await talk(call);
  } finally {
    await client.close();
  }
}

const write = (call, place) => call('write_file', { path: path.join(place, 'made.txt'), content: 'written in a cell' });
const read = (call, place) => call('read_text_file', { path: path.join(place, 'made.txt') });

async function writesAndOwns(call, project, uid) {
  const written = await write(call, project);
  assert.ok(!written.isError, textOf(written));
  assert.match(textOf(await read(call, project)), /written in a cell/);
  const made = fs.statSync(path.join(project, 'made.txt'));
  assert.deepEqual([made.uid, made.gid], [uid, uid]);
}

// Of the processes below the daemon: their names with the capabilities that they have.
function capabilities(daemon) {
  const processes = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
    try {
      const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
      const field = (name) => status.match(new RegExp(`^${name}:\\s*(\\S+)`, 'm'))[1];
      return [{ pid: Number(pid), parent: Number(field('PPid')), name: field('Name'),
                held: BigInt(`0x${field('CapPrm')}`) | BigInt(`0x${field('CapEff')}`) | BigInt(`0x${field('CapAmb')}`),
                own: fs.readlinkSync(`/proc/${pid}/ns/user`) === fs.readlinkSync('/proc/self/ns/user') }];
    } catch {
      return [];
    }
  });
  const below = new Set([daemon.process.pid]);
  for (let grown = true; grown;) {
    grown = false;
    for (const { pid, parent } of processes) {
      if (!below.has(pid) && below.has(parent)) grown = below.add(pid);
    }
  }
  return processes.filter(({ pid }) => below.has(pid));
}

describe('in system mode', { skip: isRoot ? false : 'needs root: two users' }, () => {
  const daemon = new Daemon();
  let hers;
  let his;
  let later;
  const forBob = '[[server.files.rule]]\neffect = "allow"\nusers = [' + bob + ']\ntools = ["*"]';
  const lines = (paths) => [`read = ["${daemon.directory}/mcp"]`, `write = [${paths.map((one) => `"${one}"`).join(', ')}]`, forBob];

  before(async () => {
    hers = makeHome(daemon, 'alice', alice);
    his = makeHome(daemon, 'bob', bob);
    later = makeHome(daemon, 'later', alice);
    daemon.declare('files', server, [hers, his, later], lines([hers, his]));
    await daemon.start();
  });
  after(() => daemon.stop());

  test('Two users at once read and write their own directories, which stay theirs', async () => {
    const parameters = daemon.throughCell('files');
    await withClient(as(alice, parameters), (ofAlice) => withClient(as(bob, parameters), async (ofBob) => {
      await Promise.all([writesAndOwns(ofAlice, hers, alice), writesAndOwns(ofBob, his, bob)]);
    }));
  });

  test("Another user's directory is refused, and the error says whose it is and what to do", async () => {
    await withClient(as(alice, daemon.throughCell('files')), async (call) => {
      const answer = await write(call, his);
      assert.ok(answer.isError);
      assert.match(textOf(answer), new RegExp(`write ${his}: no, it belongs to another user \\(${bob}, 0700\\); .*setfacl`));
    });
    assert.ok(!fs.existsSync(path.join(his, 'of_alice.txt')));
  });

  test('Check, explain and status say the same', async () => {
    const refusal = `write ${his}: no, it belongs to another user (${bob}, 0700)`;
    const config = path.join(daemon.directory, 'cellblock.toml');
    assert.ok(run(daemon, 'cellblockd', '--check', '--config', config).includes(`${refusal} (cells of uid ${alice}`));
    assert.ok(run(daemon, 'cellblockd', '--config', config, '--explain', `${alice}`, 'files').includes(refusal));
    assert.ok(!run(daemon, 'cellblockd', '--config', config, '--explain', `${bob}`, 'files').includes(refusal));
    const { servers } = JSON.parse(await daemon.command('status', '--json'));
    assert.equal(servers[0].run_as, 'own');
    const paths = Object.fromEntries(servers[0].declared.paths.map((one) => [one.source, one]));
    assert.equal(paths[hers].as, 'client');
    assert.equal(paths[hers].problem, undefined);
    assert.equal(paths[his].problem, refusal);
  });

  test('Nothing holds a capability on the host afterwards', async () => {
    await withClient(as(alice, daemon.throughCell('files')), async (call) => {
      await read(call, hers);
      const processes = capabilities(daemon);
      assert.ok(processes.some(({ name }) => name === 'node'), 'a cell runs');
      for (const { name, held, own } of processes) assert.ok(held === 0n || !own, `${name} holds ${held}`);
      const supervisor = processes.find(({ pid }) => pid === daemon.process.pid);
      assert.equal(supervisor.held, 0n);
    });
  });

  test('A directory of the user that is declared later is hers after a reload', async () => {
    daemon.setLines('files', lines([hers, his, later]));
    daemon.write();
    const { code, err } = await daemon.reload();
    assert.equal(code, 0, err);
    await withClient(as(alice, daemon.throughCell('files')), (call) => writesAndOwns(call, later, alice));
  });

  test('A reload without root keeps the mounts that are in use, and refuses a new one', async () => {
    const other = makeHome(daemon, 'other', alice);
    const done = daemon.nextLine(/reloaded by uid/);
    daemon.process.kill('SIGHUP');
    await done;
    await withClient(as(alice, daemon.throughCell('files')), (call) => writesAndOwns(call, hers, alice));
    daemon.setLines('files', lines([hers, his, later, other]));
    daemon.write();
    const refused = daemon.nextLine(/run `cellblock reload` as root/);
    daemon.process.kill('SIGHUP');
    await refused;
  });
});

// As a user who has subordinate ids: accounts of a mount namespace of its own.
describe('rootless', { skip: isRoot && fs.existsSync('/usr/bin/newuidmap') ? false : 'needs root, and newuidmap' }, () => {
  const daemon = new Daemon();
  let hers;
  let his;

  function makeAccounts() {
    const etc = path.join(daemon.directory, 'etc');
    fs.mkdirSync(etc);
    const lines = { passwd: `alice:x:${alice}:${alice}::${daemon.directory}/alice:/bin/sh`, group: `alice:x:${alice}:`,
                    subuid: `alice:${1 << 21}:65536`, subgid: `alice:${1 << 21}:65536` };
    for (const [name, line] of Object.entries(lines)) {
      const before = fs.existsSync(`/etc/${name}`) ? fs.readFileSync(`/etc/${name}`, 'utf8') : '';
      fs.writeFileSync(path.join(etc, name), `${before}${line}\n`);
      if (!fs.existsSync(`/etc/${name}`)) fs.writeFileSync(`/etc/${name}`, '');
    }
    return etc;
  }

  async function start() {
    fs.mkdirSync(path.join(daemon.directory, 'mcp'), { recursive: true });
    await daemon.prepare();
    const config = path.join(daemon.directory, 'alice', 'cellblock.toml');
    const runtime = path.join(daemon.directory, 'alice', 'run');
    fs.mkdirSync(runtime, { mode: 0o700 });
    daemon.socket = path.join(runtime, 'cellblock.sock');
    const node = fs.realpathSync(process.execPath);
    const script = path.join(daemon.modules, server, 'dist', 'index.js');
    fs.writeFileSync(config, `[daemon]\nstate_directory = "${daemon.directory}/alice/state"\naudit_log = "${daemon.directory}/alice/audit.log"
[socket]\npath = "${daemon.socket}"\n[server.files]\ncommand = ["${node}", "${script}", "${hers}", "${his}"]
read = ["${daemon.directory}/mcp"]\nwrite = ["${hers}", "${his}"]\nprofile = "node"\nallow = { users = [${alice}], tools = ["*"] }\n`);
    for (const one of [config, runtime]) fs.chownSync(one, alice, alice);
    const inside = `for f in passwd group subuid subgid; do mount --bind ${makeAccounts()}/$f /etc/$f || exit 1; done
exec setpriv --reuid ${alice} --regid ${alice} --clear-groups -- "$@"`;
    daemon.process = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', inside, 'sh',
      path.join(daemon.directory, 'bin', 'cellblockd'), '--user', '--config', config],
    { env: { PATH: '/usr/bin:/bin', HOME: `${daemon.directory}/alice`, XDG_RUNTIME_DIR: runtime }, cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe'] });
    for await (const line of createInterface({ input: daemon.process.stderr })) {
      daemon.log += `${line}\n`;
      if (line.includes('ready on')) return;
    }
    throw new Error(daemon.log);
  }

  before(async () => {
    hers = makeHome(daemon, 'alice', alice);
    his = path.join(daemon.directory, 'of_bob');
    fs.mkdirSync(his, { mode: 0o755 });
    fs.chownSync(his, bob, bob);
    daemon.declare('files', server, [hers, his]);
    await start();
  });
  after(async () => {
    if (daemon.process?.exitCode === null) {
      daemon.process.kill('SIGTERM');
      await once(daemon.process, 'exit');
    }
    fs.rmSync(daemon.directory, { recursive: true, force: true });
  });

  test('The server runs as the user where a path needs its owner, and has subordinate ids elsewhere', async () => {
    assert.match(daemon.log, /cells run under subordinate ids/);
    await withClient(as(alice, daemon.throughCell('files')), (call) => writesAndOwns(call, hers, alice));
    const { servers } = JSON.parse(await daemon.command('status', '--json'));
    assert.equal(servers[0].run_as, 'client');
    assert.match(servers[0].run_as_reason, new RegExp(`write ${hers} needs its owner`));
  });

  test("Another user's directory is refused with the reason", async () => {
    await withClient(as(alice, daemon.throughCell('files')), async (call) => {
      const answer = await write(call, his);
      assert.ok(answer.isError);
      assert.match(textOf(answer), /it belongs to another user \(\d+, 0755\)/);
    });
  });
});
