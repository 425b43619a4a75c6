// A place in which `cellblock add` works: programs, a home, a project, a configuration, a registry of the
// test's own; rootless, and in system mode.

import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { once } from 'node:events';
import { after, before, describe } from 'node:test';

import { connect, sdks } from './clients.mjs';
import { Daemon, hostId } from './daemon.mjs';
import { Registry } from './registry.mjs';

const [v1] = sdks;
const isRoot = process.getuid() === 0;
const daemonId = 64001;

export const user = isRoot ? hostId : process.getuid();
export const textOf = ({ content }) => content.map(({ text }) => text).join('\n');

// The place, and a daemon for what is declared in it.
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

  // answers: [the question's end, a line], each typed once its question is shown; gives what the terminal showed.
  async type(answers, words, options = {}) {
    const line = words.map((one) => `'${one}'`).join(' ');
    const child = this.spawn(['script', '-qefc', line, '/dev/null'], { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    const left = [...answers];
    let shown = '';
    child.stdout.on('data', (chunk) => {
      shown += chunk;
      if (left.length > 0 && shown.endsWith(left[0][0])) child.stdin.write(`${left.shift()[1]}\n`);
    });
    await once(child, 'close');
    return shown;
  }

  // In system mode a server's users are named.
  get allowed() {
    return this.isSystem ? ['--allow', `${user}`] : [];
  }

  add(name, words, options = []) {
    return this.cellblock('add', name, '--yes', ...this.allowed, ...options, '--', ...words);
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

  // A client over that command line, as the user.
  openThrough(words) {
    const drop = isRoot ? ['setpriv', '--reuid', `${user}`, '--regid', `${user}`, '--clear-groups', '--'] : [];
    const [command, ...rest] = [...drop, path.join(this.directory, 'bin/cellblock'), ...words];
    return connect(v1, { command, args: rest, env: { ...this.env, CELLBLOCK_SOCKET: this.socket }, stderr: 'ignore' });
  }

  async callThrough(words, tool, args = {}) {
    const { client, call } = await this.openThrough(words);
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

function inMode(isSystem, publish, claims) {
  const skip = isSystem && !isRoot ? 'needs root' : false;
  describe(isSystem ? 'in system mode' : 'rootless', { skip }, () => {
    const registry = new Registry();
    const place = new Place(isSystem);

    before(async () => {
      await registry.start();
      publish(registry);
      await place.make(registry);
      if (isSystem) await place.start();
    });
    after(async () => {
      registry.stop();
      await place.stop();
    });
    claims({ registry, place });
  });
}

// Has the claims made in each mode, in a place with a registry that `publish` has filled.
export function inBothModes(publish, claims) {
  for (const isSystem of [false, true]) inMode(isSystem, publish, claims);
}

// The same of a user's own cellblock alone.
export const rootless = (publish, claims) => inMode(false, publish, claims);
