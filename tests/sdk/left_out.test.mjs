// A configuration with one good server and several that are broken: each alone is left out, and named.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { Daemon } from './support/daemon.mjs';
import { declareMock, said, textOf } from './support/mock.mjs';
import { RawHost } from './support/raw_host.mjs';

const [v1] = sdks;
const daemon = new Daemon();
const isRoot = process.getuid() === 0;
const rules = { 'tools/call ok': [{ answer: said('ok') }] };
const legacy = ['era = "legacy"', 'pin = "off"'];
const missing = path.join(daemon.directory, 'missing');
const secret = path.join(daemon.directory, 'secret');
const denying = (lines) => `[[server.denier.rule]]\neffect = "deny"\n${lines}\ntools = ["*"]`;

// Each server with the words of its cause.
const broken = {
  directory: [[`read = ["${missing}:/data", "${daemon.directory}/mcp"]`], /read: .*missing" cannot be given to a cell: does not exist/],
  secret: [[`secret_files = { TOKEN = "${secret}" }`], /secret_files\.TOKEN: .*secret"/],
  command: [['secret_files = { TOKEN = { command = ["/bin/false"] } }'], /the command of the secret TOKEN, \/bin\/false: exited with code 1/],
  denier: [[denying('users = ["no-such-user"]')], /rule\[1\]\.users: there is no user "no-such-user" here/],
};

before(async () => {
  declareMock(daemon, 'good', rules, legacy);
  for (const [name, [lines]] of Object.entries(broken)) declareMock(daemon, name, rules, [...legacy, ...lines]);
  daemon.more += '[role.team]\ngroups = ["no-such-group"]\n';
  await daemon.start();
});
after(() => daemon.stop());

const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };

async function withHost(server, talk) {
  const host = new RawHost(daemon.throughCell(server));
  try {
    return await talk(host);
  } finally {
    await host.close();
  }
}

const attachError = (server) => withHost(server, async (host) => (await host.ask('initialize', initialize)).error);

async function stateOf(server) {
  const { servers } = JSON.parse(await daemon.command('status', '--json'));
  const { state, broken: why } = servers.find(({ name }) => name === server);
  return { state, why };
}

async function reloaded(args = []) {
  daemon.write();
  const { code, out, err } = await daemon.reload(args);
  assert.equal(code, 0, err);
  return out;
}

test('The good server answers', () => withHost('good', async (host) => {
  await host.open();
  assert.equal(textOf(await host.call('ok')), 'ok');
}));

for (const [name, [, cause]] of Object.entries(broken)) {
  test(`The server with a broken ${name} is named in status, at an attach and in the log`, async () => {
    const { state, why } = await stateOf(name);
    assert.equal(state, 'broken');
    assert.match(why, cause);
    assert.match(why, /cellblock\.toml/);
    const error = await attachError(name);
    assert.equal(error.data.code, 'server_failed');
    assert.match(error.message, new RegExp(`server "${name}" is broken and left out`));
    assert.match(error.data.cause, cause);
    assert.match(error.data.advice, /cellblock reload/);
    assert.match(daemon.log, new RegExp(`\\[MCP:stdio:${name}\\] is broken: `));
  });
}

test('A role with a group that is not here is named in the log', () => {
  assert.match(daemon.log, /role team is broken: .*no-such-group/);
});

test('A host of all servers has the tools of the good one, and is told of the others', async () => {
  const side = await connect(v1, daemon.together());
  try {
    const listed = await side.client.listTools();
    const unavailable = listed._meta['cellblock/unavailable'].map(({ server }) => server);
    assert.deepEqual(unavailable.toSorted(), Object.keys(broken).toSorted());
  } finally {
    await side.client.close();
  }
});

test('A server that is put right can be used after a reload', async () => {
  fs.writeFileSync(secret, 'a secret of some length\n', { mode: 0o600 });
  const out = await reloaded();
  assert.match(out, /server secret: no longer broken: can be used/);
  assert.match(out, /broken: server directory: read/);
  assert.ok(!/broken: server secret/.test(out), out);
  await withHost('secret', async (host) => {
    await host.open();
    assert.equal(textOf(await host.call('ok')), 'ok');
  });
  assert.notEqual((await stateOf('secret')).state, 'broken');
});

describe('A reload that breaks a server', () => {
  test('says so beforehand, takes effect for the others, and ends its sessions with the cause', () => withHost('secret', async (host) => {
    await host.open();
    assert.equal(textOf(await host.call('ok')), 'ok');
    await withHost('good', async (other) => {
      await other.open();
      fs.rmSync(secret);
      daemon.setLines('good', [...legacy, '[[server.good.rule]]\neffect = "deny"\ntools = ["ok"]']);
      assert.match(await reloaded(['--dry-run']), /would change\n[^]*server secret: broken: it is left out, and its sessions are ended/);
      assert.equal(textOf(await host.call('ok')), 'ok');
      assert.match(await reloaded(), /server secret: broken: it is left out, and its sessions are ended\n[^]*broken: server secret: secret_files\.TOKEN/);
      assert.notEqual(textOf(await other.call('ok')), 'ok');
    });
    assert.equal(await host.receive(), undefined);
    assert.match(host.stderr, /secret: secret_files\.TOKEN: .*cellblock\.toml/);
  }));

  test('is in the log', () => assert.match(daemon.log, /reloaded by uid [0-9]+: .*server secret: broken/));

  test('is repeated without a change', async () => {
    assert.match(await reloaded(), /^nothing has changed\n[^]*broken: server secret/);
  });
});

test('A server that denies somebody unknown starts when he is known', async () => {
  daemon.setLines('denier', [...legacy, denying(`users = [${isRoot ? 0 : 12345}]`)]);
  assert.match(await reloaded(), /server denier: no longer broken/);
  await withHost('denier', async (host) => {
    await host.open();
    assert.equal(textOf(await host.call('ok')), 'ok');
  });
});

test('A syntax error changes nothing', async () => {
  daemon.write(`${daemon.configuration()}\n[server.good\n`);
  const { code, err } = await daemon.reload();
  assert.equal(code, 1);
  assert.match(err, /error/);
  assert.notEqual((await stateOf('good')).state, 'broken');
});
