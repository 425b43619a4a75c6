// A cellblockd for the SDK tests: as root for the whole system, else rootless. Everything lies in a
// directory that passes the daemon's own checks, and is gone after stop().

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const isRoot = process.getuid() === 0;
const daemonId = 64001;
export const hostId = 64101; // as root: whom hosts run as
const hostsGroup = 64100;

const here = path.dirname(fileURLToPath(import.meta.url));
export const fixtures = path.resolve(here, '../../fixtures');
const bin = process.env.CELLBLOCK_TEST_BIN ?? path.resolve(here, '../../../build/dev/bin');
const programs = ['cellblockd', 'cellblock-supervisor', 'cellblock-launcher', 'cellblock-gateway', 'cellblock-audit', 'cellblock-http', 'cellblock-metrics', 'cellblock-egress',
                  'cellblock-probe', 'cellblock', 'cellblock-tools', 'libcellblock-client.so.0.2'];

// What every host process starts as: nobody special.
export const asHost = isRoot
  ? ['setpriv', '--reuid', `${hostId}`, '--regid', `${hostId}`, '--groups', `${hostsGroup}`, '--']
  : [];

function makeDirectory() {
  const parent = isRoot ? '/var/lib' : path.join(os.homedir(), '.cache');
  fs.mkdirSync(parent, { recursive: true });
  const directory = fs.mkdtempSync(path.join(parent, 'cellblock-sdk.'));
  fs.chmodSync(directory, 0o755);
  return directory;
}

function quoted(list) {
  return `[${list.map((item) => JSON.stringify(item)).join(', ')}]`;
}

// For tests that look for what a server itself says, of what it has and of what it has not.
export const unguarded = ['pin = "off"', 'validate_arguments = false'];

export class Daemon {
  constructor() {
    this.directory = makeDirectory();
    this.socket = path.join(this.directory, 'run', 'cellblock.sock');
    this.modules = path.join(this.directory, 'mcp', 'node_modules');
    this.servers = new Map();
    this.needsPackages = false;
    this.daemonLines = ''; // further ones of [daemon]
    this.more = ''; // of the configuration
    this.bounds = 'off'; // of results: most tests look for what servers said, byte for byte
    this.within = []; // a command that the daemon and its reloads are run by
    this.log = '';
    this.waiting = []; // for a line of the log
  }

  // A directory that a server may write to, at the same path inside and outside of the cell.
  makeProject(name) {
    const project = path.join(this.directory, name);
    fs.mkdirSync(project);
    fs.chmodSync(project, 0o777);
    return project;
  }

  // Declares an npm server; `lines` are further lines of its table.
  declare(name, packageName, args, lines = []) {
    const script = path.join(this.modules, packageName, 'dist', 'index.js');
    this.needsPackages = true;
    this.#declare(name, script, args, lines);
  }

  // Declares server-everything, which may ask the host for these features; its get-sum asks the user.
  declareEverything(features) {
    const listed = features.map(feature => `"${feature}"`).join(', ');
    this.declare('everything', '@modelcontextprotocol/server-everything', ['stdio'],
                 ['pin = "off"', `client_features = [${listed}]`]);
    this.more += `[[server.everything.rule]]
effect = "ask"
approver = "user"
tools = ["get-sum"]
users = [${isRoot ? hostId : process.getuid()}]
`;
  }

  // Declares a server of tests/fixtures, which may take modules from the folders named.
  declareFixture(name, script, { args = [], lines = [], folders = [], packages = false } = {}) {
    const place = path.join(this.directory, 'mcp');
    for (const part of [script, ...folders]) {
      fs.cpSync(path.join(fixtures, part), path.join(place, part), { recursive: true });
    }
    this.needsPackages ||= packages;
    this.#declare(name, path.join(place, script), args, lines);
  }

  // Declares a server by its script, anywhere.
  declareScript(name, script, args, lines = []) {
    this.#declare(name, script, args, lines);
  }

  // Takes its declaration away, and gives it.
  forget(name) {
    const declaration = this.servers.get(name);
    this.servers.delete(name);
    return declaration;
  }

  bringBack(name, declaration) {
    this.servers.set(name, declaration);
  }

  // Other lines for a server that is declared.
  setLines(name, lines) {
    this.servers.get(name).lines = lines;
  }

  #declare(name, script, args, lines) {
    this.servers.set(name, { command: [fs.realpathSync(process.execPath), script, ...args], lines });
  }

  configuration() {
    const system = isRoot ? `user = ${daemonId}\ngroup = ${daemonId}\n` : '';
    const socket = isRoot ? `mode = "0660"\ngroup = ${hostsGroup}\n` : '';
    let text = `[daemon]\n${system}state_directory = "${this.directory}/state"
audit_log = "${this.directory}/audit.log"\n${this.daemonLines}\n[socket]\npath = "${this.socket}"\nmax_connections_per_user = 512\n${socket}\n`;
    for (const [name, { command, lines }] of this.servers) {
      const reads = lines.some((line) => line.startsWith('read ')) ? '' : `read = ["${this.directory}/mcp"]\n`;
      const profile = lines.some((line) => line.startsWith('profile ')) ? '' : 'profile = "node"\n';
      text += `[server.${name}]\ncommand = ${quoted(command)}\n${reads}${profile}allow = { users = [${isRoot ? hostId : process.getuid()}], tools = ["*"] }\n${lines.join('\n')}\n\n`;
    }
    return `${text}[results]\nbounds = "${this.bounds}"\n${this.more}`;
  }

  // Listens for HTTP on that port of loopback, and on that Unix socket if there is one; gives the
  // token of the user that hosts run as.
  listenOnHttp(port, socket) {
    const token = randomBytes(32).toString('hex');
    const file = path.join(this.directory, 'token');
    fs.writeFileSync(file, `${token}\n`, { mode: 0o600 });
    const onSocket = socket ? `socket = "${socket}"\n${isRoot ? 'mode = "0666"\n' : ''}` : '';
    this.more += `[listen.http]\naddress = "127.0.0.1"\nport = ${port}\nmax_sessions = 512\n${onSocket}
[[listen.http.token]]\nname = "test"\nfile = "${file}"\nuser = ${isRoot ? hostId : process.getuid()}\n`;
    return token;
  }

  // Its programs and packages, in its directory.
  async prepare() {
    fs.mkdirSync(path.join(this.directory, 'bin'));
    for (const program of programs) {
      fs.copyFileSync(path.join(bin, program), path.join(this.directory, 'bin', program));
    }
    if (this.needsPackages) this.#copyPackages();
  }

  async start() {
    await this.prepare();
    if (!isRoot) fs.mkdirSync(path.dirname(this.socket), { mode: 0o700 });
    await this.startAgain();
  }

  get #file() {
    return path.join(this.directory, 'cellblock.toml');
  }

  write(text = this.configuration()) {
    fs.writeFileSync(this.#file, text, { mode: 0o644 });
  }

  // `cellblock reload`, by an administrator, of what is declared now: { code, out, err }.
  async reload(args = [], asWhom = []) {
    const command = [...this.within, ...asWhom, path.join(this.directory, 'bin', 'cellblock'), '--socket', this.socket,
                     'reload', '--config', this.#file, ...args];
    const env = { PATH: '/usr/bin:/bin', CELLBLOCK_SOCKET: this.socket, HOME: this.directory,
                  XDG_RUNTIME_DIR: path.dirname(this.socket), ASAN_OPTIONS: 'detect_leaks=0' };
    const child = spawn(command[0], command.slice(1), { env, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
    const told = { out: '', err: '' };
    child.stdout.on('data', (chunk) => { told.out += chunk; });
    child.stderr.on('data', (chunk) => { told.err += chunk; });
    const [code] = await once(child, 'close');
    return { code, ...told };
  }

  // After end().
  async startAgain() {
    this.write();
    const command = [...this.within, path.join(this.directory, 'bin', 'cellblockd'), '--config', this.#file,
                     ...(isRoot ? [] : ['--user'])];
    const env = { PATH: '/usr/bin:/bin', HOME: this.directory, XDG_RUNTIME_DIR: path.dirname(this.socket),
                  ASAN_OPTIONS: 'detect_leaks=0' };
    this.process = spawn(command[0], command.slice(1),
                         { env, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
    await this.#ready();
  }

  // Without the Node and the suites of the conformance tests: most of the bytes, and no server's.
  #copyPackages() {
    const other = /^(node-linux-|conformance-)/;
    fs.cpSync(path.join(fixtures, 'node_modules'), this.modules,
              { recursive: true, filter: (source) => !other.test(path.basename(source)) });
  }

  async #ready() {
    const lines = createInterface({ input: this.process.stderr });
    await new Promise((resolve, reject) => {
      lines.on('line', (line) => {
        this.log += `${line}\n`;
        for (const one of this.waiting.filter(({ like }) => like.test(line))) {
          this.waiting.splice(this.waiting.indexOf(one), 1);
          one.resolve(line);
        }
        if (line.includes('ready on')) resolve();
      });
      this.process.once('exit', (code) => reject(new Error(`cellblockd ended with ${code}\n${this.log}`)));
    });
  }

  // The next line of its log that is like this.
  nextLine(like) {
    return new Promise((resolve) => {
      this.waiting.push({ like, resolve });
    });
  }

  // The audit log so far; what was done is there when its answer is.
  auditLines() {
    return fs.readFileSync(path.join(this.directory, 'audit.log'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  }

  async end() {
    if (this.process?.exitCode !== null) return;
    const ended = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    await ended;
  }

  // The processes that cellblockd has started, with whose names that begins: [pid].
  #descendants(name) {
    const processes = fs.readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)).flatMap((pid) => {
      try {
        const [, comm, parent] = /\((.*)\) \S (\d+)/s.exec(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
        return [{ pid: Number(pid), comm, parent: Number(parent) }];
      } catch {
        return []; // it has ended meanwhile
      }
    });
    const below = new Set([this.process.pid]);
    for (let size = 0; size !== below.size;) {
      size = below.size;
      processes.filter(({ parent }) => below.has(parent)).forEach(({ pid }) => below.add(pid));
    }
    return processes.filter(({ pid, comm }) => below.has(pid) && comm.startsWith(name)).map(({ pid }) => pid);
  }

  // SIGKILL to a process of cellblock's own: 'gateway', 'launcher' or 'supervisor'. Without the last two
  // nothing is left, and a daemon is started again, as a service manager does it.
  async crash(which) {
    // Answered by that gateway when it has done all that it was doing: so an answer that the host has is noted.
    await this.command('status');
    const names = { gateway: 'cellblock-gatew', launcher: 'cellblock-launc' };
    const pids = which === 'supervisor' ? [this.process.pid] : this.#descendants(names[which]);
    if (pids.length !== 1) throw new Error(`${pids.length} processes are the ${which}`);
    const ended = once(this.process, 'exit');
    process.kill(pids[0], 'SIGKILL');
    if (which === 'gateway') return;
    await ended;
    await this.startAgain();
  }

  async stop() {
    await this.end();
    fs.rmSync(this.directory, { recursive: true, force: true });
  }

  // Parameters of a stdio transport. Both ways run as the same user.
  direct(name) {
    const [command, ...args] = [...asHost, ...this.servers.get(name).command];
    return { command, args, env: { PATH: '/usr/bin:/bin', HOME: '/', TZ: 'UTC', LANG: 'C.UTF-8' }, stderr: 'ignore' };
  }

  // All servers as one.
  together() {
    const { args, ...rest } = this.throughCell('');
    return { ...rest, args: args.slice(0, -1) };
  }

  throughCell(name) {
    const [command, ...args] = [...asHost, path.join(this.directory, 'bin', 'cellblock'), 'connect', name];
    return { command, args, env: { PATH: '/usr/bin:/bin', CELLBLOCK_SOCKET: this.socket }, stderr: 'pipe' };
  }

  // One run of the command-line tool: its standard output.
  async command(...args) {
    const { command, args: prefix, env } = this.throughCell('');
    const child = spawn(command, [...prefix.slice(0, -2), ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (chunk) => { text += chunk; });
    await once(child, 'close');
    return text;
  }
}
