// `cellblock inspect` as a script uses it: server-everything, asked by hand in both eras, and all servers as one.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';

import { Daemon, unguarded } from './support/daemon.mjs';

const daemon = new Daemon();
before(async () => {
  daemon.declare('everything', '@modelcontextprotocol/server-everything', [],
                 ['client_features = ["elicitation"]', ...unguarded]);
  await daemon.start();
});
after(() => daemon.stop());

async function inspect(...words) {
  const { command, args, env } = daemon.throughCell('');
  const child = spawn(command, [...args.slice(0, -2), 'inspect', ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = { out: '', err: '' };
  child.stdout.on('data', (chunk) => { ended.out += chunk; });
  child.stderr.on('data', (chunk) => { ended.err += chunk; });
  [ended.code] = await once(child, 'close');
  return ended;
}

async function json(...words) {
  const { out, err, code } = await inspect(...words, '--json');
  assert.equal(code, 0, err);
  return JSON.parse(out);
}

for (const era of ['legacy', 'modern']) {
  describe(`inspect in the ${era} era`, () => {
    const everything = (...words) => inspect('everything', ...words, '--era', era);
    const read = (...words) => json('everything', ...words, '--era', era);

    test('says who the server is', async () => {
      const { out } = await everything('info');
      assert.match(out, /^mcp-servers\/everything /);
      assert.match(out, /capabilities:\n {2}tools/);
      assert.ok(era === 'legacy' ? (await read('info')).protocolVersion : (await read('info')).supportedVersions);
    });

    test('lists what there is of each kind', async () => {
      assert.ok((await read('tools')).some(({ name }) => name === 'get-sum'));
      assert.ok((await read('prompts')).some(({ name }) => name === 'args-prompt'));
      assert.ok((await read('resources')).every(({ uri }) => uri.startsWith('demo://')));
      assert.ok((await read('templates')).some(({ uriTemplate }) => uriTemplate.includes('{resourceId}')));
    });

    test('describes a tool by its schema', async () => {
      const { out } = await everything('describe', 'tool', 'get-sum');
      assert.match(out, /arguments:\n {2}a: number, required\n {6}First number\n {2}b: number, required/);
      assert.equal((await everything('describe', 'tool', 'none')).code, 4);
    });

    test('calls, reads, gets and completes', async () => {
      assert.equal((await everything('call', 'get-sum', '{"a": 1}', 'b=2')).out, 'The sum of 1 and 2 is 3.\n');
      assert.match((await everything('read', 'demo://resource/dynamic/text/1')).out, /^Resource 1: /);
      assert.equal((await everything('get', 'args-prompt', 'city=Paris')).out, "user: What's weather in Paris?\n");
      assert.equal((await everything('complete', 'prompt', 'completable-prompt', 'department', 'E')).out, 'Engineering\n');
    });

    test('ends with 3 where the tool fails', async () => {
      assert.equal((await everything('call', 'get-sum', 'a=x')).code, 3);
    });

    test('declares no elicitation, since nobody is there to answer', async () => {
      const { err } = await everything('raw', 'tools/list', '--frames', '--timings');
      assert.match(err, /^→ +[0-9.]+ ms {2}.*"method":"tools\/list"/m);
      assert.match(err, /^← +[0-9.]+ ms {2}.*"get-sum"/m);
      assert.match(err, /^start [0-9.]+ ms, command [0-9.]+ ms$/m);
      assert.doesNotMatch(err.replace(/^←.*$/gm, ''), /elicitation/);
    });
  });
}

test('inspect speaks with all servers as one', async () => {
  assert.equal((await inspect('--all', 'call', 'everything__echo', 'message=hello')).out, 'Echo: hello\n');
});

test('inspect without a command needs a terminal', async () => {
  const { code, err } = await inspect('everything');
  assert.equal(code, 2);
  assert.match(err, /describe tool\|prompt\|resource/);
});
