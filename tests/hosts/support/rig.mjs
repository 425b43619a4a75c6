// One host, as an ordinary user, with a home of its own, a model on loopback, and a daemon that has the servers of the tests. Started as root
// the daemon is the system's; started as an ordinary user it is rootless, at the socket where `cellblock` looks for it.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { asHost, Daemon, hostId } from '../../sdk/support/daemon.mjs';
import { hosts, packages } from './hosts.mjs';
import { StandInModel } from './model.mjs';

const isSystem = asHost.length > 0;
const longest = 180_000; // ms, of one run of a host: longer than an approval may take
export const mode = isSystem ? 'system mode' : 'rootless';

// Why this machine cannot run the host, or false.
export function whyNot({ title, program }) {
  const missing = program.find((part) => part.startsWith('/') && !fs.existsSync(part));
  if (missing) return `${title} is not installed (no ${missing}): run tests/fixtures/hosts/install.sh`;
  const [command, ...args] = [...asHost, 'test', '-r', program.at(-1), '-a', '-x', program[0]];
  return spawnSync(command, args).status !== 0 && `an ordinary user cannot run ${program.join(' ')}`;
}

// Waits until `look` gives something: asks again and again, for a bounded time.
export async function eventually(look, what) {
  for (const end = Date.now() + longest; Date.now() < end; await pause(20)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`${what} did not happen within ${longest} ms`);
}

async function outputOf([command, ...args], options) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: longest, ...options });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => { out += chunk; });
  child.stderr.on('data', (chunk) => { err += chunk; });
  const [code, signal] = await once(child, 'close');
  return { code: code ?? signal, out, err };
}

export class Rig {
  #first = []; // folders, before the others in PATH

  // `change`: of the entries of all servers.
  constructor(name, change) {
    this.host = hosts[name];
    this.change = change;
    this.daemon = new Daemon();
    this.model = new StandInModel();
    this.project = this.daemon.makeProject('project');
    this.home = path.join(this.daemon.directory, 'home');
    this.servers = ['files', 'memory', 'pages', 'broken'];
    this.#declare();
  }

  #declare() {
    const { daemon, project } = this;
    const script = (name) => path.join(daemon.modules, '@modelcontextprotocol', name, 'dist', 'index.js');
    fs.writeFileSync(path.join(project, 'notes.txt'), 'Water the plants.\n', { mode: 0o644 });
    fs.writeFileSync(path.join(project, 'private.txt'), 'A secret.\n', { mode: 0o644 });
    const user = `users = [${isSystem ? hostId : process.getuid()}]`;
    const rules = [
      '[[server.files.rule]]', 'effect = "deny"', 'tools = ["move_file"]',
      '[[server.files.rule]]', 'effect = "deny"', 'tools = ["read_text_file"]', `arguments.path = { below = "${project}/private.txt" }`,
      '[[server.files.rule]]', 'effect = "ask"', user, 'tools = ["write_file"]',
      'arguments.path = { any = true }', 'arguments.content = { any = true }',
      '[[server.files.rule]]', 'effect = "ask"', 'approver = "user"', user, 'tools = ["create_directory"]', 'arguments.path = { any = true }'];
    daemon.declareScript('files', script('server-filesystem'), [project], [`write = ["${project}"]`, ...rules]);
    daemon.declareScript('memory', script('server-memory'), [], ['home = "persistent"', 'env = { MEMORY_FILE_PATH = "/home/mcp/memory.jsonl" }']);
    daemon.declareFixture('pages', 'page_server.mjs');
    daemon.declareScript('broken', path.join(daemon.modules, 'not-installed', 'index.js'), []);
  }

  async start() {
    const { daemon } = this;
    if (!isSystem) {
      fs.mkdirSync(path.join(daemon.directory, 'run'), { mode: 0o700 });
      daemon.socket = path.join(daemon.directory, 'run', 'cellblock', 'cellblock.sock');
    }
    const isHost = /^(@anthropic-ai|@google|@openai|opencode-.*)$/;
    fs.cpSync(packages, daemon.modules, { recursive: true, filter: (from) => !isHost.test(path.relative(packages, from)) });
    await daemon.start();
    await this.model.start();
    this.#makeHome();
    await this.configure(this.servers, this.change);
  }

  #makeHome() {
    this.work = path.join(this.home, 'work');
    fs.mkdirSync(this.work, { recursive: true });
    this.#giveToHost(this.home, this.work);
  }

  #giveToHost(...places) {
    if (isSystem) places.forEach((place) => fs.chownSync(place, hostId, hostId));
  }

  get environment() {
    const { url } = this.model;
    return {
      PATH: [...this.#first, `${this.daemon.directory}/bin`, '/usr/bin', '/bin'].join(':'), HOME: this.home, TERM: 'dumb', NO_COLOR: '1', LANG: 'C.UTF-8',
      ...(isSystem ? {} : { XDG_RUNTIME_DIR: path.join(this.daemon.directory, 'run') }),
      HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: '127.0.0.1', ASAN_OPTIONS: 'detect_leaks=0', ...this.host.env(url),
    };
  }

  // What the host's configuration has of those servers, as its user gets it.
  async entries(servers) {
    const flags = isSystem ? ['--socket', this.daemon.socket] : [];
    if (this.host.entry) return this.host.entry(servers.map((name) => [name, ['cellblock', ...flags, 'connect', name]]));
    const { code, out, err } = await this.asUser(['cellblock', ...flags, 'export', this.host.exported, ...servers]);
    if (code !== 0) throw new Error(`cellblock export: ${err}`);
    return this.host.improved?.(out) ?? out;
  }

  async configure(servers, change = (entries) => entries) {
    const files = this.host.files(change(await this.entries(servers)), this.model.url);
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(this.home, name);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, text);
      for (let place = file; place !== this.home; place = path.dirname(place)) this.#giveToHost(place);
    }
  }

  asUser(command, env = this.environment) {
    return outputOf([...asHost, ...command], { env, cwd: this.work });
  }

  list() {
    return this.asUser([...this.host.program, ...this.host.list]);
  }

  tool(server, tool) {
    return this.host.tool(server, tool);
  }

  // The host is given a task, for which its model calls those tools: `{ server, tool, args, before }`.
  async run(calls) {
    const tools = calls.map(({ server, tool }) => this.tool(server, tool));
    const before = this.host.search ? [this.host.search(tools)] : [];
    this.model.play([...before, ...calls.map(({ server, tool, ...rest }) => ({ ...rest, tool: this.tool(server, tool) }))]);
    const output = await this.asUser([...this.host.program, ...this.host.run('Do the task.', tools)]);
    return { ...output, results: this.model.results.slice(before.length), offered: this.model.offered };
  }

  // What the host writes to its servers meanwhile.
  async recorded(use) {
    const folder = path.join(this.home, 'recording');
    fs.mkdirSync(folder);
    fs.writeFileSync(path.join(folder, 'cellblock'), `#!/bin/sh\ntee -a ${folder}/lines | ${this.daemon.directory}/bin/cellblock "$@"\n`, { mode: 0o755 });
    this.#giveToHost(folder);
    this.#first = [folder];
    try {
      await use();
      return fs.readFileSync(path.join(folder, 'lines'), 'utf8');
    } finally {
      this.#first = [];
    }
  }

  // `cellblock …` of the host's user.
  cellblock(...args) {
    return this.asUser(['cellblock', '--socket', this.daemon.socket, ...args]);
  }

  // `cellblock …` of whoever may approve.
  asAdministrator(...args) {
    const command = path.join(this.daemon.directory, 'bin', 'cellblock');
    return outputOf([command, '--socket', this.daemon.socket, ...args], { env: this.environment, cwd: '/' });
  }

  // The name of the next call that waits for an approval.
  waitingCall() {
    return eventually(async () => /^(\d+\.\d+) /m.exec((await this.asAdministrator('approve')).out)?.[1], 'a call that waits');
  }

  // Of the next call that waits: 'allow' or 'deny'.
  async decide(word) {
    return this.asAdministrator('approve', word, await this.waitingCall());
  }

  async restartDaemon() {
    await this.daemon.end();
    await this.daemon.startAgain();
  }

  async stop() {
    this.model.stop();
    await this.daemon.stop();
  }
}
