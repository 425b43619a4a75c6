// `cellblock doctor` on this machine: rootless, as an ordinary user whom nobody protects from himself, and in
// system mode. What it says is held against what the kernel's own files say, and against what a daemon does.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { asHost, Daemon, hostId } from './support/daemon.mjs';

const isRoot = process.getuid() === 0;
const user = isRoot ? hostId : process.getuid();
const drop = isRoot ? ['setpriv', '--reuid', `${user}`, '--regid', `${user}`, '--clear-groups', '--'] : [];

describe('cellblock doctor', () => {
  const programs = new Daemon(); // its programs alone
  let env;

  before(async () => {
    await programs.prepare();
    const home = path.join(programs.directory, 'user');
    const runtime = path.join(home, 'run');
    for (const one of [home, runtime]) {
      fs.mkdirSync(one, { mode: 0o700 });
      fs.chownSync(one, user, user);
    }
    env = { PATH: `${programs.directory}/bin:${path.dirname(process.execPath)}:/usr/bin:/bin`, HOME: home,
            XDG_RUNTIME_DIR: runtime, TERM: 'dumb', ASAN_OPTIONS: 'detect_leaks=0' };
  });
  after(() => fs.rmSync(programs.directory, { recursive: true, force: true }));

  const run = (words, more = {}) => {
    const [command, ...args] = words;
    return spawnSync(command, args, { env: { ...env, ...more }, cwd: '/', encoding: 'utf8', timeout: 120_000 });
  };
  const doctor = (before = drop, more = {}) => {
    const told = run([...before, 'cellblock', '--json', 'doctor'], more);
    const report = JSON.parse(told.stdout);
    assert.equal(report.exit_code, told.status);
    return { ...report, of: (check) => report.findings.find((one) => one.check === check) };
  };

  test('says of a user without a daemon what is there, with a remedy for each that is not', () => {
    const report = doctor();
    for (const one of report.findings) assert.equal(one.result === 'ok', one.remedy.length === 0, JSON.stringify(one));
    assert.ok(report.of('kernel').says.includes(os.release()));
    assert.equal(report.of('user namespaces').result, 'ok');
    assert.equal(report.of('a cell').result, 'ok', report.of('a cell').says);
    assert.equal(report.of('daemon').result, 'missing');
    assert.ok(report.of('daemon').says.includes(`${env.XDG_RUNTIME_DIR}/cellblock/cellblock.sock`));
    assert.equal(report.of('configuration').result, 'missing');
    assert.equal(report.exit_code, 6);
    assert.equal(report.outlook, 'no_daemon');
  });

  test('agrees with the check of a configuration about Landlock', () => {
    const file = path.join(programs.directory, 'landlock.toml');
    fs.writeFileSync(file, '');
    const checked = run([...drop, 'cellblockd', '--user', '--check', file]).stdout;
    const abi = /Landlock: ABI (\d+)/.exec(checked)[1];
    assert.ok(doctor().of('Landlock').says.includes(`ABI ${abi}`));
  });

  test('leaves nothing behind', () => {
    const left = () => fs.readdirSync(os.tmpdir()).filter((name) => name.startsWith('cellblock-doctor-'));
    const others = new Set(left());
    doctor();
    assert.deepEqual(left().filter((name) => !others.has(name)), []);
    assert.deepEqual(fs.readdirSync(env.HOME).sort(), ['run']);
  });

  test('shows a person one line for each check, the command below it, and what it all means', () => {
    const told = run([...drop, 'cellblock', 'doctor']);
    assert.match(told.stdout, /^ok {7}user namespaces {3}/m);
    assert.match(told.stdout, /^missing {2}daemon .*\n {27}systemctl --user enable --now cellblock\.socket/m);
    assert.match(told.stdout, /\n\nservers could run here; first: daemon\n$/);
  });

  test('finds a configuration that is not usable', () => {
    const file = path.join(programs.directory, 'bad.toml');
    fs.writeFileSync(file, '[server.x]\nkommand = 1\n');
    const report = doctor(drop, { CELLBLOCK_CONFIG: file });
    assert.equal(report.of('configuration').result, 'missing');
    assert.match(report.of('configuration').says, /bad\.toml:\d+:\d+: error: /);
  });

  // In a user namespace of the test's own, whose limit is nobody else's.
  const without = (what) => [...drop, 'unshare', '--user', '--map-user', `${user}`, '--map-group', `${user}`, '--keep-caps', '--mount',
                             'sh', '-c', `${what}; exec setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all "$@"`, 'sh'];

  test('says that nothing can run where no user namespace can be made, and which line changes that', () => {
    const report = doctor(without('echo 0 >/proc/sys/user/max_user_namespaces'));
    const finding = report.of('user namespaces');
    assert.equal(finding.result, 'missing');
    assert.match(finding.says, /ENOSPC; user\.max_user_namespaces is 0/);
    assert.match(finding.remedy[0], /user\.max_user_namespaces=10000/);
    assert.equal(report.of('a cell'), undefined);
    assert.equal(report.exit_code, 1);
    assert.equal(report.outlook, 'none');
  });

  test('says that nothing can run where /proc/sys is read-only, as in containers', () => {
    const report = doctor(without('mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys'));
    assert.match(report.of('user namespaces').says, /forbidding further user namespaces in a cell cannot be had: EROFS/);
    assert.equal(report.exit_code, 1);
  });

  test('finds a daemon that answers', { skip: isRoot }, async () => {
    await programs.start();
    const report = doctor([], { CELLBLOCK_SOCKET: programs.socket });
    assert.equal(report.of('daemon').result, 'ok');
    await programs.stop();
  });

  describe('in system mode', { skip: !isRoot }, () => {
    const configuration = () => {
      const file = path.join(programs.directory, 'cellblock.toml');
      fs.writeFileSync(file, '[daemon]\nuser = 64001\ngroup = 64001\nid_range = { first = 1600000000, count = 4096 }\n');
      return file;
    };

    test('makes a cell as the user whom the configuration names', () => {
      const report = doctor([], { CELLBLOCK_CONFIG: configuration() });
      assert.match(report.of('user namespaces').says, /as 64001$/);
      assert.equal(report.of('a cell').result, 'ok', report.of('a cell').says);
      assert.equal(report.of('account').result, 'ok');
      assert.notEqual(report.of('ID-mapped mounts'), undefined);
      assert.equal(report.of('subordinate ids'), undefined);
    });

    test('makes its directory where no variable of its caller leads', () => {
      const elsewhere = path.join(programs.directory, 'elsewhere');
      const link = path.join(programs.directory, 'link');
      fs.mkdirSync(elsewhere);
      fs.symlinkSync(elsewhere, link);
      const before = fs.statSync(elsewhere).mtimeMs;
      const report = doctor([], { CELLBLOCK_CONFIG: configuration(), TMPDIR: link });
      assert.equal(report.of('a cell').result, 'ok', report.of('a cell').says);
      assert.equal(fs.statSync(elsewhere).mtimeMs, before);
      for (const place of ['/run', '/tmp']) {
        assert.deepEqual(fs.readdirSync(place).filter((name) => name.startsWith('cellblock-doctor-')), []);
      }
    });

    test('refuses to look at a root without the system', () => {
      const told = run(['cellblock', '--user', 'doctor']);
      assert.equal(told.status, 1);
      assert.match(told.stderr, /--user is for an ordinary user/);
    });

    test('finds a daemon that answers, of this version', async () => {
      const daemon = new Daemon();
      fs.mkdirSync(path.join(daemon.directory, 'mcp'));
      daemon.declareScript('one', path.join(daemon.directory, 'mcp/none.js'), []); // for the host's user alone
      await daemon.start();
      try {
        const report = doctor([], { CELLBLOCK_CONFIG: configuration(), CELLBLOCK_SOCKET: daemon.socket });
        assert.equal(report.of('daemon').result, 'ok', report.of('daemon').says);
        assert.ok(['full', 'weaker'].includes(report.outlook));
        assert.equal(report.exit_code, report.outlook === 'full' ? 0 : 13);

        const ofUser = doctor(asHost, { CELLBLOCK_SOCKET: daemon.socket });
        assert.match(ofUser.of('daemon').says, /, version \d/);
        assert.equal(ofUser.of('account').check, 'account'); // the system's, though he is no root
        for (const check of ['configuration', 'ID-mapped mounts']) assert.equal(ofUser.of(check), undefined);
        assert.match(ofUser.of('user namespaces').says, /; not tried as cellblock, whom cellblockd becomes$/);
        const hasAccount = ofUser.of('account').result === 'ok';
        assert.equal(ofUser.of('a cell')?.result, hasAccount ? 'untried' : undefined);
        assert.equal(ofUser.exit_code, hasAccount ? 14 : 1);
        assert.equal(ofUser.outlook, hasAccount ? 'untried' : 'none');
      } finally {
        await daemon.stop();
      }
    });
  });
});
