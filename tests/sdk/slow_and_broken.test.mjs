// Servers that come up late, not at all, or speak another era than their declaration says.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { Daemon } from './support/daemon.mjs';
import { declareMock, said, textOf } from './support/mock.mjs';
import { RawHost, envelope } from './support/raw_host.mjs';

const daemon = new Daemon();
const introduction = {
  supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, resultType: 'complete', ttlMs: 0, cacheScope: 'private',
};
const modernOnly = [{ error: { code: -32022, message: 'no', data: { supported: ['2026-07-28'], requested: 'x' } } }];
const unknown = [{ error: { code: -32601, message: 'Method not found' } }];
const echo = { 'tools/call echo': [{ answer: { resultType: 'complete', ...said('hello') } }] };
const late = { busy: 1000 }; // five times catalogue.era_timeout

before(async () => {
  declareMock(daemon, 'late', {
    ...echo, 'server/discover': [late, { answer: introduction }], initialize: [late, ...modernOnly],
  });
  declareMock(daemon, 'not-modern', { 'server/discover': unknown }, ['era = "modern"']);
  declareMock(daemon, 'not-legacy', { initialize: unknown }, ['era = "legacy"']);
  declareMock(daemon, 'works', {}, ['era = "legacy"']);
  declareMock(daemon, 'broken', { 'server/discover': [{ line: 'oh' }, { exit: 3 }], initialize: [{ exit: 3 }] });
  daemon.more += '[catalogue]\nera_timeout = "200ms"\n';
  await daemon.start();
});
after(() => daemon.stop());

// `cellblock connect` between plain files: { code, out }.
async function betweenFiles(server, lines) {
  const { command, args, env } = daemon.throughCell(server);
  const [input, output] = ['in', 'out'].map((name) => path.join(daemon.directory, name));
  fs.writeFileSync(input, lines.map((line) => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`).join(''));
  const files = [fs.openSync(input, 'r'), fs.openSync(output, 'w')];
  const child = spawn(command, args, { env, stdio: [...files, 'ignore'] });
  const [code] = await once(child, 'exit');
  files.forEach((file) => fs.closeSync(file));
  return { code, out: fs.readFileSync(output, 'utf8') };
}

const introduce = {
  id: 1, method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'files', version: '1' } },
};

describe('between plain files', () => {
  test('a server that fails is told by the exit code', async () => {
    const { code, out } = await betweenFiles('broken', [introduce]);
    assert.match(out, /exited with code 3/);
    assert.notEqual(code, 0);
  });

  test('a session that its host ended is none', async () => {
    const { code, out } = await betweenFiles('works', [introduce, { method: 'notifications/initialized' }]);
    assert.match(out, /"serverInfo"/);
    assert.equal(code, 0);
  });
});

async function withHost(transport, talk) {
  const host = new RawHost(transport);
  try {
    await talk(host);
  } finally {
    await host.close();
  }
}

describe('a modern server that comes up later than catalogue.era_timeout', () => {
  test('is found to be modern, and used', async () => {
    await withHost(daemon.throughCell('late'), async (host) => {
      const { result } = await host.ask('server/discover', { _meta: envelope });
      assert.ok(result?.supportedVersions.includes('2026-07-28'));
      const call = await host.ask('tools/call', { name: 'echo', arguments: {}, _meta: envelope });
      assert.equal(textOf(call), 'hello');
    });
  });
});

describe('a server that refuses the era that it is declared to speak', () => {
  test('fails with a sentence that names both, for hosts of both eras', async () => {
    const refusals = { 'not-modern': ['server/discover', 'modern'], 'not-legacy': ['initialize', 'legacy'] };
    for (const [name, [method, era]] of Object.entries(refusals)) {
      const sentence = `server "${name}" refused ${method} (-32601), but [server.${name}] says era = "${era}"; `
        + 'without it the era is found out';
      await withHost(daemon.throughCell(name), async (host) => {
        const { error } = await host.ask('server/discover', { _meta: envelope });
        assert.equal(error.message, sentence);
        assert.equal(error.data.code, 'server_failed');
      });
      await withHost(daemon.throughCell(name), async (host) => {
        const { error } = await host.ask('initialize', {
          protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'h', version: '1' },
        });
        assert.equal(error.message, sentence);
      });
    }
  });
});

describe('a server that cannot be had', () => {
  test('is named with its reason to a host of all servers', async () => {
    await withHost(daemon.together(), async (host) => {
      const listed = await host.ask('tools/list', { _meta: envelope });
      const missing = listed.result._meta['cellblock/unavailable'].find(({ server }) => server === 'broken');
      assert.match(missing.brief, /^exited with code 3 before it answered$/);
      const { result } = await host.ask('server/discover', { _meta: envelope });
      assert.match(result.instructions, /Not listed now:\n(- .*\n)*- broken: exited with code 3 before it answered\n/);
    });
  });
});
