// `cellblock import --into-host`: hosts' own files, changed to start cellblock, and changed back.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';

import { Daemon, hostId } from './support/daemon.mjs';

const isRoot = process.getuid() === 0;
const user = isRoot ? hostId : process.getuid();
const drop = isRoot ? ['setpriv', '--reuid', `${user}`, '--regid', `${user}`, '--clear-groups', '--'] : [];
const line = ['npx', '-y', '@scope/server-memory@1.2.3', '--all'];

const claude = `{
  "numStartups": 7,
  "mcpServers": {
    "notes": {"type": "stdio", "command": "npx", "args": ["-y", "@scope/server-memory", "--all"], "env": {"TOKEN": "secret"}},
    "declared": {
      "command": "python3",
      "args": ["x.py"]
    },
    "unknown": {"command": "u"}
  }
}
`;
const codex = `# mine
[mcp_servers.declared] # by name
command = "python3"
args = ["x.py"]
tool_timeout_sec = 9
`;

describe('cellblock import --into-host', () => {
  const programs = new Daemon(); // its programs alone
  let home;
  let env;
  const at = (name) => path.join(home, name);
  const read = (name) => fs.readFileSync(at(name), 'utf8');
  const write = (name, text, mode = 0o600) => {
    fs.mkdirSync(path.dirname(at(name)), { recursive: true });
    fs.writeFileSync(at(name), text);
    fs.chmodSync(at(name), mode);
    for (let one = at(name); one !== path.dirname(home); one = path.dirname(one)) fs.chownSync(one, user, user);
  };
  const cellblock = (...words) => {
    const [command, ...args] = [...drop, 'cellblock', ...words];
    return spawnSync(command, args, { env, cwd: home, encoding: 'utf8', timeout: 60_000 });
  };

  before(() => programs.prepare());
  after(() => fs.rmSync(programs.directory, { recursive: true, force: true }));
  const declareByHand = () => write('.config/cellblock/servers.d/declared.toml', `[server.declared]\ncommand = ["/usr/bin/python3", "${at('x.py')}"]\n`);
  const backupOf = (name) => at(`.local/state/cellblock/hosts/${createHash('sha256').update(at(name)).digest('hex')}.json`);

  beforeEach(() => {
    home = fs.realpathSync(fs.mkdtempSync(path.join(programs.directory, 'home.')));
    env = { PATH: `${programs.directory}/bin:/usr/bin:/bin`, HOME: home, XDG_RUNTIME_DIR: home, TERM: 'dumb', ASAN_OPTIONS: 'detect_leaks=0' };
    write('.local/share/cellblock/servers/memory/origin.json',
          JSON.stringify({ command: line, package: '@scope/server-memory', version: '1.2.3', directory: '/x', previous: '', runs_scripts: false }));
    write('.config/cellblock/secrets/memory.TOKEN', 'secret\n');
    write('.config/cellblock/servers.d/memory.toml',
          `[server.memory]\ncommand = ["/usr/bin/node", "/x/index.js"]\n[server.memory.env_from_file]\nTOKEN = "${at('.config/cellblock/secrets/memory.TOKEN')}"\n`);
    write('x.py', '');
    declareByHand();
    write('.claude.json', claude, 0o640);
  });

  test('connects what was added from the same line and what is declared by that name and command, and nothing else', () => {
    const told = cellblock('--user', 'import', '.claude.json', '--into-host', '--yes');
    assert.equal(told.status, 0, told.stderr);
    const { numStartups, mcpServers } = JSON.parse(read('.claude.json'));
    assert.equal(numStartups, 7);
    assert.deepEqual(mcpServers.notes, { type: 'stdio', command: 'cellblock', args: ['--user', 'connect', 'memory'] });
    assert.deepEqual(mcpServers.declared, { command: 'cellblock', args: ['--user', 'connect', 'declared'] });
    assert.deepEqual(mcpServers.unknown, { command: 'u' });
    assert.match(told.stderr, /mcpServers\.unknown: stays: cellblock has no such server/);
    assert.equal(fs.statSync(at('.claude.json')).mode & 0o7777, 0o640);
  });

  test('keeps the old text in the state directory, closed to others, and nothing beside the file', () => {
    cellblock('--user', 'import', '.claude.json', '--into-host', '--yes');
    assert.equal(fs.statSync(backupOf('.claude.json')).mode & 0o7777, 0o600);
    assert.equal(fs.statSync(path.dirname(backupOf('.claude.json'))).mode & 0o7777, 0o700);
    assert.deepEqual(JSON.parse(fs.readFileSync(backupOf('.claude.json'), 'utf8')), { file: at('.claude.json'), text: claude });
    assert.deepEqual(fs.readdirSync(home).filter((name) => /backup|cellblock-/.test(name)), []);
  });

  test('leaves an entry with another token, another command, or a variable that the server is not given', () => {
    const text = JSON.stringify({
      mcpServers: {
        notes: { command: 'npx', args: ['-y', '@scope/server-memory', '--all'], env: { TOKEN: 'other' } },
        more: { command: 'npx', args: ['-y', '@scope/server-memory', '--all'], env: { MORE: '1' } },
        declared: { command: 'python3', args: ['y.py'] },
      },
    });
    write('.claude.json', text);
    const told = cellblock('--user', 'import', '.claude.json', '--into-host', '--yes');
    assert.equal(told.status, 0, told.stderr);
    assert.match(told.stderr, /mcpServers\.notes: stays: its variable TOKEN has another value than cellblock's server "memory" is given/);
    assert.match(told.stderr, /mcpServers\.more: stays: it has the variable MORE, which cellblock's server "memory" is not given/);
    assert.match(told.stderr, /mcpServers\.declared: stays: cellblock's server "declared" is started by another command/);
    assert.equal(read('.claude.json'), text);
    assert.equal(fs.existsSync(backupOf('.claude.json')), false);
  });

  test('resolves the commands of a project in that project, and names it', () => {
    write('a/x.py', '');
    const entry = { declared: { command: 'python3', args: ['x.py'] } };
    write('.claude.json', JSON.stringify({ projects: { [home]: { mcpServers: entry }, [at('a')]: { mcpServers: entry } } }));
    const told = cellblock('--user', 'import', '.claude.json', '--into-host', '--yes');
    const { projects } = JSON.parse(read('.claude.json'));
    assert.equal(projects[home].mcpServers.declared.command, 'cellblock', told.stderr);
    assert.deepEqual(projects[at('a')].mcpServers, entry);
    assert.ok(told.stderr.includes(`projects.${at('a')}.mcpServers.declared: stays: `), told.stderr);
  });

  test('gives the same bytes back, and takes the backup away', () => {
    cellblock('--user', 'import', '.claude.json', '--into-host', '--yes');
    assert.notEqual(read('.claude.json'), claude);
    const told = cellblock('--user', 'import', '.claude.json', '--into-host', '--undo', '--yes');
    assert.equal(told.status, 0, told.stderr);
    assert.equal(read('.claude.json'), claude);
    assert.match(told.stderr, /mcpServers\.notes: becomes again: npx -y @scope\/server-memory --all \(with the variables TOKEN\)/);
    assert.match(told.stderr, /mcpServers\.declared: becomes again: python3 x\.py/);
    assert.equal(fs.existsSync(backupOf('.claude.json')), false);
  });

  test('takes the old text away where nothing of it comes back', () => {
    cellblock('--user', 'import', '.claude.json', '--into-host', '--yes');
    write('.claude.json', claude, 0o640);
    const told = cellblock('--user', 'import', '.claude.json', '--into-host', '--undo', '--yes');
    assert.equal(told.status, 0, told.stderr);
    assert.match(told.stderr, /no entry is to be given back/);
    assert.equal(read('.claude.json'), claude);
    assert.equal(fs.existsSync(backupOf('.claude.json')), false);
  });

  test('takes nothing back from a file that came with the project', () => {
    const text = JSON.stringify({ mcpServers: { x: { command: 'cellblock', args: ['connect', 'x'] } } });
    write('project/.mcp.json', text);
    write('project/.mcp.json.cellblock-backup', JSON.stringify({ mcpServers: { x: { command: 'evil' } } }));
    const told = cellblock('--user', 'import', 'project/.mcp.json', '--into-host', '--undo', '--yes');
    assert.equal(told.status, 1);
    assert.match(told.stderr, /was not changed by cellblock/);
    assert.equal(read('project/.mcp.json'), text);
  });

  test('gives all lines back after two changes, the second of a server that was added later', () => {
    fs.rmSync(at('.config/cellblock/servers.d/declared.toml'));
    cellblock('--user', 'import', '.claude.json', '--into-host', '--yes');
    assert.equal(JSON.parse(read('.claude.json')).mcpServers.declared.command, 'python3');
    declareByHand();
    cellblock('--user', 'import', '.claude.json', '--into-host', '--yes');
    assert.equal(JSON.parse(read('.claude.json')).mcpServers.declared.command, 'cellblock');
    cellblock('--user', 'import', '.claude.json', '--into-host', '--undo', '--yes');
    assert.equal(read('.claude.json'), claude);
  });

  test('finds the hosts of this machine where no file is named', () => {
    write('.codex/config.toml', codex);
    const told = cellblock('--user', '--json', 'import', '--into-host', '--yes');
    assert.equal(told.status, 0, told.stderr);
    assert.deepEqual(JSON.parse(told.stdout).files.map(({ file }) => file), [at('.claude.json'), at('.codex/config.toml')]);
    assert.equal(read('.codex/config.toml'), `# mine
[mcp_servers.declared] # by name
command = "cellblock"
args = ["--user", "connect", "declared"]
env_vars = ["XDG_RUNTIME_DIR"]
tool_timeout_sec = 9
`);
    cellblock('--user', 'import', '--into-host', '--undo', '--yes');
    assert.equal(read('.codex/config.toml'), codex);
    assert.equal(read('.claude.json'), claude);
  });

  test('changes nothing without a yes where nobody can be asked', () => {
    const told = cellblock('--user', 'import', '.claude.json', '--into-host');
    assert.equal(told.status, 1);
    assert.match(told.stderr, /--yes does it without a question/);
    assert.equal(read('.claude.json'), claude);
  });

  test('changes no file through a link, and none of another user', { skip: !isRoot }, () => {
    fs.symlinkSync(at('.claude.json'), at('link.json'));
    assert.match(cellblock('--user', 'import', 'link.json', '--into-host', '--yes').stderr, /it is a link/);
    fs.chownSync(at('.claude.json'), 0, user);
    const told = cellblock('--user', 'import', '.claude.json', '--into-host', '--yes');
    assert.equal(told.status, 1);
    assert.match(told.stderr, /belongs to another user/);
    assert.equal(read('.claude.json'), claude);
  });

  test('needs a file for everything else', () => {
    assert.match(cellblock('import').stderr, /FILE is required/);
    assert.equal(cellblock('import', '--undo').status, 2);
  });
});
