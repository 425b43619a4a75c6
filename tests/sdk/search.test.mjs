// Tools found by search: a host that is listed two tools in place of all, over all servers as one and
// over one server, for hosts of both eras.

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { Daemon, hostId } from './support/daemon.mjs';

const [v1, v2] = sdks;
const hosts = [
  { name: 'SDK v1', sdk: v1 },
  { name: 'SDK v2 that probes', sdk: v2, options: { versionNegotiation: { mode: 'auto' } } },
  { name: 'SDK v2 pinned', sdk: v2, options: { versionNegotiation: { mode: { pin: '2026-07-28' } } } },
];

const rule = (server, effect, tools, more = '') =>
  `[[server.${server}.rule]]\neffect = "${effect}"\ntools = ${JSON.stringify(tools)}\n${more}`;

const user = process.getuid() === 0 ? hostId : process.getuid();
const daemon = new Daemon();
let project;

before(async () => {
  daemon.bounds = 'on';
  project = daemon.makeProject('project');
  fs.writeFileSync(path.join(project, 'notes.txt'), 'what is in the notes', { mode: 0o644 });
  fs.writeFileSync(path.join(project, 'long.txt'), 'a line of many\n'.repeat(20_000), { mode: 0o644 });
  const fixture = { folders: ['sdk_servers'], packages: true, lines: ['client_features = ["elicitation"]'] };
  daemon.declare('everything', '@modelcontextprotocol/server-everything', [], [
    rule('everything', 'deny', ['get-env']),
    rule('everything', 'ask', ['get-sum'], `users = [${user}]\napprover = "user"`),
  ]);
  daemon.declare('files', '@modelcontextprotocol/server-filesystem', [project], [
    `read = ["${daemon.directory}/mcp"]`, `write = ["${project}"]`, 'always_listed = ["list_dir*"]',
    rule('files', 'deny', ['write_file']),
  ]);
  daemon.declareFixture('new', 'sdk_servers/v2.mjs', { ...fixture, args: ['modern'] });
  daemon.declareFixture('old', 'sdk_servers/v1.mjs', fixture);
  await daemon.start();
});
after(() => daemon.stop());

const withSearch = ({ args, ...rest }, word = 'search') => ({ ...rest, args: [...args, '--tools', word] });
const namesOf = (tools) => tools.map(({ name }) => name);
const textOf = (result) => result.content[0].text;

async function connectHost({ sdk, options }, parameters) {
  const heard = new EventEmitter();
  const questions = [];
  const side = await connect(sdk, parameters, {
    ...options, capabilities: { elicitation: { form: {} } },
    answers: {
      'elicitation/create': ({ params }) => {
        questions.push(params.message);
        return { action: 'accept', content: { allow: true, colour: 'green' } };
      },
    },
  });
  sdk.hear(side.client, 'notifications/tools/list_changed', ({ params }) => heard.emit('changed', params));
  const find = async (words, limit) => (await side.call('cellblock_find_tools', { words, limit })).structuredContent;
  const call = (name, args) => side.call('cellblock_call_tool', { name, arguments: args });
  return { ...side, heard, questions, find, callFound: call, isModern: side.client.getProtocolEra?.() === 'modern' };
}

// What the audit log has of these calls, the newest last.
function callsOf(tool) {
  return fs.readFileSync(path.join(daemon.directory, 'audit.log'), 'utf8').trim().split('\n').map((line) => JSON.parse(line))
    .filter((record) => record.tool === tool && record.kind.startsWith('call'));
}

for (const host of hosts) {
  describe(`${host.name} that finds tools by search`, () => {
    let side;
    before(async () => { side = await connectHost(host, withSearch(daemon.together())); });
    after(() => side?.client.close());

    test('is listed the tools of the search, and what is always listed', async () => {
      const { tools } = await side.client.listTools();
      assert.deepEqual(namesOf(tools), ['files__list_directory', 'files__list_directory_with_sizes', 'cellblock_find_tools',
                                        'cellblock_call_tool', 'cellblock_read_result']);
      const { description } = tools.find(({ name }) => name === 'cellblock_find_tools');
      assert.match(description, /Servers: everything, files, new, old\./);
    });

    test('finds a tool by words, with its description and schema, and calls it', async () => {
      const { tools, searched } = await side.find('read a text file');
      assert.ok(searched > 20);
      assert.ok(tools.length <= 5);
      const found = tools.find(({ name }) => name === 'files__read_text_file');
      assert.ok(found.description.length > 20);
      assert.ok(found.inputSchema.properties.path);
      const result = await side.callFound('files__read_text_file', { path: path.join(project, 'notes.txt') });
      assert.equal(textOf(result), 'what is in the notes');
    });

    test('has the same matches as text, and no more than it asked for', async () => {
      const result = await side.call('cellblock_find_tools', { words: 'file', limit: 2 });
      assert.equal(result.structuredContent.tools.length, 2);
      assert.deepEqual(JSON.parse(textOf(result)), result.structuredContent);
    });

    test('neither finds nor calls what a rule denies', async () => {
      for (const name of ['files__write_file', 'everything__get-env']) {
        const { tools } = await side.find(name, 20);
        assert.ok(!namesOf(tools).includes(name), name);
        await assert.rejects(side.callFound(name, { path: '/x', content: 'x' }), new RegExp(`Unknown tool: ${name}`));
      }
      assert.ok(!fs.existsSync('/x'));
      assert.equal(callsOf('write_file').at(-1).outcome, 'denied');
    });

    test('is asked where a rule asks', async () => {
      side.questions.length = 0;
      assert.match(textOf(await side.callFound('everything__get-sum', { a: 2, b: 3 })), /5/);
      assert.equal(side.questions.length, 1);
      assert.match(side.questions[0], /get-sum/);
    });

    test('has its arguments held to the schema of the tool that it calls', async () => {
      const result = await side.callFound('everything__echo', { message: 7 });
      assert.ok(result.isError);
      assert.match(textOf(result), /message/);
      const shape = await side.call('cellblock_call_tool', { name: 'everything__echo', arguments: 'no object' });
      assert.match(textOf(shape), /"arguments" is no object; allowed: /);
    });

    test('still calls a tool by its own name, and answers questions of servers', async () => {
      assert.equal(textOf(await side.call('new__echo', { message: 'x' })), 'x');
      for (const server of ['new', 'old']) {
        assert.equal(textOf(await side.callFound(`${server}__ask`)), 'chose green');
      }
    });

    test('reads on in a result that was cut', async () => {
      const result = await side.callFound('files__read_text_file', { path: path.join(project, 'long.txt') });
      const { parts } = result._meta['cellblock/bounded'];
      const page = await side.call('cellblock_read_result', { uri: parts[0].uri, limit: 100 });
      assert.match(textOf(page), /^a line of many/);
    });

    test('hears that lists have changed, and finds what is new', async () => {
      const end = side.isModern ? await side.client.listen({ toolsListChanged: true }) : undefined;
      for (const server of ['new', 'old']) {
        const grown = `${server}__grown`;
        const changed = once(side.heard, 'changed');
        await side.callFound(`${server}__grow`);
        await changed;
        while (!namesOf((await side.find(grown)).tools).includes(grown)) await once(side.heard, 'changed');
      }
      await end?.close();
    });

    test('goes on finding and calling after a crash', async () => {
      await daemon.crash('gateway');
      assert.ok(namesOf((await side.find('echo')).tools).includes('everything__echo'));
      assert.match(textOf(await side.callFound('everything__echo', { message: 'again' })), /again/);
      assert.ok(namesOf((await side.client.listTools()).tools).includes('cellblock_find_tools'));
    });

    test('is recorded with the name of the tool that it calls', () => {
      assert.ok(callsOf('read_text_file').some(({ server, outcome }) => server === 'files' && outcome === 'ok'));
      assert.equal(callsOf('cellblock_call_tool').filter(({ outcome }) => outcome === 'ok').length, 0);
      assert.ok(callsOf('cellblock_find_tools').some(({ kind }) => kind === 'call_ended'));
    });
  });

  test(`${host.name} finds the tools of one server by their own names`, async (t) => {
    const side = await connectHost(host, withSearch(daemon.throughCell('files')));
    t.after(() => side.client.close());
    const names = namesOf((await side.client.listTools()).tools);
    assert.deepEqual(names.filter((name) => !name.startsWith('cellblock_')), ['list_directory', 'list_directory_with_sizes']);
    assert.equal((await side.find('rename a file')).tools[0].name, 'move_file');
    const result = await side.callFound('read_text_file', { path: path.join(project, 'notes.txt') });
    assert.equal(textOf(result), 'what is in the notes');
    await assert.rejects(side.callFound('write_file', { path: path.join(project, 'y'), content: 'y' }), /Unknown tool: write_file/);
  });
}

describe('with tools = "search" in the configuration', () => {
  before(async () => {
    daemon.more += '[aggregate]\ntools = "search"\n';
    daemon.write();
    const { code, err } = await daemon.reload();
    assert.equal(code, 0, err);
  });

  test('a host of all servers finds tools by search, one that chooses "all" has all, and so has one of one server', async () => {
    const listed = async (parameters) => {
      const side = await connect(v1, parameters);
      const names = namesOf((await side.client.listTools()).tools);
      await side.client.close();
      return names;
    };
    assert.ok(!(await listed(daemon.together())).includes('everything__echo'));
    assert.ok((await listed(withSearch(daemon.together(), 'all'))).includes('everything__echo'));
    assert.ok((await listed(daemon.throughCell('everything'))).includes('echo'));
  });
});
