// Old and new hosts with old and new servers: whatever eras the two sides speak, tools, progress,
// cancellation, questions to the user, subscriptions and list changes work through a cell.

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, before, describe, test } from 'node:test';

import { connect, firstProgress, sdks } from './support/clients.mjs';
import { Daemon, unguarded } from './support/daemon.mjs';

const [v1, v2] = sdks;
const modern = '2026-07-28';
const hosts = [
  { name: 'SDK v1', sdk: v1 },
  { name: 'SDK v2 as it comes', sdk: v2 },
  { name: 'SDK v2 that probes', sdk: v2, options: { versionNegotiation: { mode: 'auto' } } },
  {
    name: `SDK v2 pinned to ${modern}`, sdk: v2, pinned: true,
    options: { versionNegotiation: { mode: { pin: modern } } },
  },
];
const servers = [
  { name: 'v1', eras: ['legacy'], script: 'v1.mjs', args: [] },
  { name: 'v2', eras: ['legacy', 'modern'], script: 'v2.mjs', args: [] },
  { name: 'v2-modern', eras: ['modern'], script: 'v2.mjs', args: ['modern'] },
];

const daemon = new Daemon();
before(async () => {
  for (const { name, script, args } of servers) {
    daemon.declareFixture(name, `sdk_servers/${script}`, {
      args, folders: ['sdk_servers'], packages: true, lines: ['client_features = ["elicitation"]', ...unguarded],
    });
  }
  await daemon.start();
});
after(() => daemon.stop());

const uri = 'pair://watched';
const textOf = (result) => result.content[0].text;

// A connected host with what it heard.
async function connectHost({ sdk, options }, server) {
  const heard = new EventEmitter();
  const questions = [];
  const side = await connect(sdk, daemon.throughCell(server), {
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

// Both eras' ways to hear of changes; gives the function that ends it.
async function subscribe({ client, isModern }) {
  if (isModern) {
    const stream = await client.listen({ resourceSubscriptions: [uri], toolsListChanged: true });
    return () => stream.close();
  }
  await client.subscribeResource({ uri });
  return () => client.unsubscribeResource({ uri });
}

for (const host of hosts) {
  for (const server of servers) {
    describe(`${host.name} with server ${server.name}`, () => {
      let side;
      before(async () => { side = await connectHost(host, server.name); });
      after(() => side?.client.close());

      if (host.pinned) {
        test('speaks the modern era', () => assert.ok(side.isModern));
      }

      test('lists and calls tools', async () => {
        const names = (await side.client.listTools()).tools.map(({ name }) => name);
        // What an earlier session saw grow may still be listed until this one's cell runs.
        assert.deepEqual(names.slice(0, 6), ['echo', 'slow', 'cancelled', 'ask', 'touch', 'grow']);
        assert.equal(textOf(await side.call('echo', { message: 'grüße' })), 'grüße');
      });

      test('lists and reads resources', async () => {
        const { resources } = await side.client.listResources();
        assert.deepEqual(resources.map((resource) => resource.uri), [uri]);
        assert.equal((await side.client.readResource({ uri })).contents[0].text, 'the watched text');
      });

      test('reports progress', async () => {
        assert.equal(textOf(await side.call('slow', { ms: 30, steps: 3 })), 'waited 30');
        const heard = await firstProgress(side.call, 2, 'slow', { ms: 600_000, steps: 60_000 });
        assert.deepEqual(heard.map(({ progress, total }) => `${progress}/${total}`), ['1/60000', '2/60000']);
      });

      test('cancels a call at the server', async () => {
        const earlier = Number(textOf(await side.call('cancelled')));
        const controller = new AbortController();
        const onprogress = () => controller.abort('changed my mind'); // so it runs for certain
        await assert.rejects(
          side.call('slow', { ms: 600_000, steps: 60_000 }, { signal: controller.signal, onprogress }));
        assert.equal(textOf(await side.call('cancelled')), `${earlier + 1}`);
      });

      test('asks the user, and says which server asks', async () => {
        assert.equal(textOf(await side.call('ask')), 'chose green');
        assert.deepEqual(side.questions, [`[server ${server.name}] Which colour?`]);
      });

      test('hears of what it subscribed to, until it ends that', async () => {
        const end = await subscribe(side);
        const updated = once(side.heard, 'notifications/resources/updated');
        await side.call('touch', { uri });
        assert.equal((await updated)[0].uri, uri);
        let late = 0;
        await end();
        side.heard.on('notifications/resources/updated', () => { late += 1; });
        await side.call('touch', { uri });
        await side.call('echo', { message: 'whatever was on its way is here' });
        assert.equal(late, 0);
      });

      test('hears that the list of tools changed', async () => {
        const end = side.isModern ? await subscribe(side) : () => {};
        const changed = once(side.heard, 'notifications/tools/list_changed');
        await side.call('grow');
        await changed;
        assert.ok((await side.client.listTools()).tools.some(({ name }) => name === 'grown'));
        await end();
      });
    });
  }
}
