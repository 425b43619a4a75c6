// All servers as one: real ones of both eras, and one that is broken, behind one `cellblock connect`,
// for hosts of both eras.

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { connect, firstProgress, sdks } from './support/clients.mjs';
import { Daemon } from './support/daemon.mjs';

const [v1, v2] = sdks;
const hosts = [
  { name: 'SDK v1', sdk: v1 },
  { name: 'SDK v2 that probes', sdk: v2, options: { versionNegotiation: { mode: 'auto' } } },
  { name: 'SDK v2 pinned', sdk: v2, options: { versionNegotiation: { mode: { pin: '2026-07-28' } } } },
];
const watched = 'pair://watched';
// Both have it; the first in the order of names has it as it is.
const pairs = [{ server: 'new', uri: watched }, { server: 'old', uri: `cellblock://old/${watched}` }];

const daemon = new Daemon();
let project;

before(async () => {
  project = daemon.makeProject('project');
  fs.writeFileSync(path.join(project, 'notes.txt'), 'what is in the notes', { mode: 0o644 });
  const asks = 'client_features = ["elicitation"]';
  const fixture = { folders: ['sdk_servers'], packages: true, lines: [asks] };
  daemon.declare('everything', '@modelcontextprotocol/server-everything', []);
  daemon.declare('files', '@modelcontextprotocol/server-filesystem', [project],
                 [`read = ["${daemon.directory}/mcp"]`, `write = ["${project}"]`]);
  daemon.declareFixture('new', 'sdk_servers/v2.mjs', { ...fixture, args: ['modern'] });
  daemon.declareFixture('old', 'sdk_servers/v1.mjs', fixture);
  daemon.declareFixture('broken', 'sdk_servers/common.mjs', fixture); // ends at once
  await daemon.start();
});
after(() => daemon.stop());

const textOf = (result) => result.content[0].text;

// What changed first may have been another server's list, of which a survey has just learned.
async function listsTool({ client, heard }, tool) {
  for (;;) {
    const changed = once(heard, 'notifications/tools/list_changed');
    if ((await client.listTools()).tools.some(({ name }) => name === tool)) return;
    await changed;
  }
}

async function connectHost({ sdk, options }) {
  const heard = new EventEmitter();
  const questions = [];
  const side = await connect(sdk, daemon.together(), {
    ...options, capabilities: { elicitation: { form: {} } },
    answers: {
      'elicitation/create': ({ params }) => {
        questions.push(params.message);
        return { action: 'accept', content: { colour: 'green' } };
      },
    },
  });
  for (const method of ['notifications/resources/updated', 'notifications/tools/list_changed']) {
    sdk.hear(side.client, method, ({ params }) => heard.emit(method, params));
  }
  return { ...side, heard, questions, isModern: side.client.getProtocolEra?.() === 'modern' };
}

async function subscribe({ client, isModern }, uri) {
  if (isModern) {
    const stream = await client.listen({ resourceSubscriptions: [uri], toolsListChanged: true });
    return () => stream.close();
  }
  await client.subscribeResource({ uri });
  return () => client.unsubscribeResource({ uri });
}

for (const host of hosts) {
  describe(`${host.name} with all servers at once`, () => {
    let side;
    before(async () => { side = await connectHost(host); });
    after(() => side?.client.close());

    test('lists the tools of all that are not broken, and says which is', async () => {
      const { tools, _meta } = await side.client.listTools();
      const names = tools.map(({ name }) => name);
      for (const name of ['everything__get-sum', 'files__read_text_file', 'new__echo', 'old__echo']) {
        assert.ok(names.includes(name), name);
      }
      assert.ok(names.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name)));
      assert.deepEqual(_meta['cellblock/unavailable'].map(({ server }) => server), ['broken']);
    });

    test('calls each under its own name', async () => {
      const [sum, notes, ...echoes] = await Promise.all([
        side.call('everything__get-sum', { a: 2, b: 3 }),
        side.call('files__read_text_file', { path: path.join(project, 'notes.txt') }),
        ...pairs.map(({ server }) => side.call(`${server}__echo`, { message: server })),
      ]);
      assert.match(textOf(sum), /5/);
      assert.equal(textOf(notes), 'what is in the notes');
      assert.deepEqual(echoes.map(textOf), ['new', 'old']);
    });

    test('hears why a broken server does not answer', async () => {
      const result = await side.call('broken__echo', { message: 'x' });
      assert.ok(result.isError);
      assert.match(textOf(result), /broken/);
    });

    test('knows no tool that nobody has', async () => {
      await assert.rejects(side.call('nobody__echo'), /Unknown tool: nobody__echo/);
    });

    test('reads what two servers have under one URI from either', async () => {
      const uris = (await side.client.listResources()).resources.map(({ uri }) => uri);
      for (const { uri } of pairs) {
        assert.ok(uris.includes(uri), uri);
        assert.equal((await side.client.readResource({ uri })).contents[0].text, 'the watched text');
      }
      await assert.rejects(side.client.readResource({ uri: 'nobody://x' }));
    });

    test('reads what a result links to', async () => {
      const { content } = await side.call('everything__get-resource-links', { count: 2 });
      const link = content.find(({ type }) => type === 'resource_link');
      assert.ok((await side.client.readResource({ uri: link.uri })).contents.length > 0);
    });

    test('gets prompts and completes their arguments', async () => {
      const names = (await side.client.listPrompts()).prompts.map(({ name }) => name);
      assert.ok(names.includes('everything__simple-prompt'));
      const got = await side.client.getPrompt({ name: 'everything__args-prompt', arguments: { city: 'Ulm' } });
      assert.match(got.messages[0].content.text, /Ulm/);
      const { completion } = await side.client.complete({
        ref: { type: 'ref/prompt', name: 'everything__completable-prompt' },
        argument: { name: 'department', value: 'E' },
      });
      assert.deepEqual(completion.values, ['Engineering']);
    });

    for (const { server, uri } of pairs) {
      test(`has progress, cancellation, questions and subscriptions of "${server}"`, async () => {
        const heard = await firstProgress(side.call, 2, `${server}__slow`, { ms: 600_000, steps: 60_000 });
        assert.deepEqual(heard.map(({ progress, total }) => `${progress}/${total}`), ['1/60000', '2/60000']);
        assert.equal(textOf(await side.call(`${server}__cancelled`)), '1');

        side.questions.length = 0;
        assert.equal(textOf(await side.call(`${server}__ask`)), 'chose green');
        assert.deepEqual(side.questions, [`[server ${server}] Which colour?`]);

        const end = await subscribe(side, uri);
        const updated = once(side.heard, 'notifications/resources/updated');
        await side.call(`${server}__touch`, { uri: watched });
        assert.equal((await updated)[0].uri, uri);

        const changed = once(side.heard, 'notifications/tools/list_changed');
        await side.call(`${server}__grow`);
        await changed;
        await listsTool(side, `${server}__grown`);
        await end();
      });
    }
  });
}
