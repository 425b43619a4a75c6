// examples/servers.d: each is a configuration without a fault, and those whose packages the tests have list their tools.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { Daemon, fixtures, hostId } from './support/daemon.mjs';
import { examples, Places } from './support/examples.mjs';

const user = process.getuid() === 0 ? hostId : process.getuid();
const all = examples();

test('all of them are configurations that leave no server out', () => {
  const daemon = new Daemon();
  try {
    const places = new Places(daemon.directory, user);
    for (const example of all) {
      const script = places.placed(example.name, example.declared.command[1]);
      fs.mkdirSync(path.dirname(script), { recursive: true });
      fs.writeFileSync(script, '');
      places.make(example);
      daemon.more += `\n${places.placed(example.name, example.text)}`;
    }
    fs.mkdirSync(path.join(daemon.directory, 'bin'));
    daemon.write();
    const bin = process.env.CELLBLOCK_TEST_BIN ?? path.resolve(fixtures, '../../build/dev/bin');
    const args = ['--config', path.join(daemon.directory, 'cellblock.toml'), '--check', ...(user === hostId ? [] : ['--user'])];
    const { status, stdout, stderr } = spawnSync(path.join(bin, 'cellblockd'), args, { encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
    assert.equal(all.length >= 40, true, `${all.length}`);
  } finally {
    fs.rmSync(daemon.directory, { recursive: true });
  }
});

// Folders of tests/fixtures that have the packages.
const installed = { filesystem: '.', everything: '.', memory: 'hosts', playwright: 'browsers', 'chrome-devtools': 'browsers', puppeteer: 'browsers' };
const here = all.filter(({ name }) => name in installed && fs.existsSync(path.join(fixtures, installed[name], 'node_modules')));

describe('in a cell', () => {
  const daemon = new Daemon();
  before(async () => {
    const places = new Places(daemon.directory, user, (name) => path.join(daemon.directory, 'programs', installed[name]));
    for (const example of here) {
      const modules = path.join(places.program(example.name), 'node_modules');
      if (!fs.existsSync(modules)) {
        const filter = (source) => !/^(node-linux-|conformance-)/.test(path.basename(source));
        fs.cpSync(path.join(fixtures, installed[example.name], 'node_modules'), modules, { recursive: true, filter });
      }
      places.make(example);
      daemon.more += `\n${places.placed(example.name, example.text)}`;
    }
    await daemon.start();
  });
  after(() => daemon.stop());

  for (const { name } of here) {
    test(`${name} lists its tools`, async () => {
      const { client } = await connect(sdks[0], daemon.throughCell(name));
      try {
        const { tools } = await client.listTools();
        assert.ok(tools.length > 0);
      } finally {
        await client.close();
      }
    });
  }
});
