// The hosts' tests once more with a rootless daemon: as root, each is run by an ordinary user. Started by an ordinary user, they are that already.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { hosts } from './support/hosts.mjs';
import { whyNot } from './support/rig.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const unusedId = 64117;
const longest = 900_000; // ms, of one host's tests
const lowered = ['--reuid', `${unusedId}`, '--regid', `${unusedId}`, '--clear-groups', '--'];
const works = (...command) => spawnSync('setpriv', [...lowered, ...command]).status === 0;

function whyNotRootless(host) {
  if (process.getuid() !== 0) return 'the tests of each host are rootless, since an ordinary user runs them';
  return whyNot(host) || (!works('unshare', '--user', '--map-root-user', 'true') && 'needs user namespaces for users without rights');
}

function run(file) {
  const home = fs.mkdtempSync('/var/lib/cellblock-rootless.');
  fs.chownSync(home, unusedId, unusedId);
  const env = { PATH: '/usr/bin:/bin', HOME: home, CELLBLOCK_TEST_BIN: process.env.CELLBLOCK_TEST_BIN };
  try {
    return spawnSync('setpriv', [...lowered, process.execPath, '--test', '--test-reporter=tap', path.join(here, file)],
                     { env, cwd: home, encoding: 'utf8', timeout: longest });
  } finally {
    fs.rmSync(home, { recursive: true, force: true });
  }
}

describe('with a rootless daemon', () => {
  for (const [name, host] of Object.entries(hosts)) {
    test(`${host.title} passes its tests`, { skip: whyNotRootless(host) }, () => {
      const { status, stdout } = run(`${name.replace('-', '_')}.test.mjs`);
      assert.equal(status, 0, stdout);
      assert.match(stdout, /^# skipped 0$/m);
      assert.doesNotMatch(stdout, /^# pass 0$/m);
    });
  }
});
