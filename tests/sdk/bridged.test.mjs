// A host that speaks only 2026-07-28 has all of server-everything, which speaks only what came before:
// its questions come back as `input_required`, and the retry finds the call where it was.

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, before, describe, test } from 'node:test';

import { connect, firstProgress, sdks } from './support/clients.mjs';
import { Daemon } from './support/daemon.mjs';

const [, v2] = sdks;
const pinned = { versionNegotiation: { mode: { pin: '2026-07-28' } } };
// Without roots: the server asks for them by itself a moment after its start, in the middle of whatever runs then.
const capabilities = { sampling: {}, elicitation: { form: {} } };
const server = '@modelcontextprotocol/server-everything';

const daemon = new Daemon();
before(async () => {
  daemon.declare('everything', server, [], ['client_features = ["roots", "sampling", "elicitation"]']);
  daemon.declare('restricted', server, []);
  await daemon.start();
});
after(() => daemon.stop());

const textOf = (result) => result.content.map(({ text }) => text).join('\n');

describe('a modern host at server-everything', () => {
  let side;
  before(async () => {
    side = await connect(v2, daemon.throughCell('everything'), { capabilities, ...pinned });
  });
  after(() => side?.client.close());

  test('calls tools and reads what they made', async () => {
    assert.equal(side.client.getProtocolEra(), 'modern');
    assert.equal(textOf(await side.call('echo', { message: 'grüße' })), 'Echo: grüße');
    assert.deepEqual((await side.call('get-structured-content', { location: 'Chicago' })).structuredContent,
                     { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 });
    assert.ok((await side.client.listPrompts()).prompts.length > 0);
  });

  test('answers an elicitation in the middle of a call', async () => {
    const said = textOf(await side.call('trigger-elicitation-request'));
    assert.ok(side.asked.includes('elicitation/create'));
    assert.match(said, /Ada/);
  });

  test('answers a sampling request in the middle of a call', async () => {
    const said = textOf(await side.call('trigger-sampling-request', { prompt: 'hello', maxTokens: 10 }));
    assert.ok(side.asked.includes('sampling/createMessage'));
    assert.match(said, /a sampled answer/);
  });

  test('hears progress', async () => {
    const heard = await firstProgress(side.call, 2, 'trigger-long-running-operation', { duration: 60, steps: 600 });
    assert.deepEqual(heard.map(({ progress }) => progress), [1, 2]);
  });

  test('hears of a resource that it listens to', async () => {
    const uri = 'demo://resource/dynamic/text/1';
    const heard = new EventEmitter();
    v2.hear(side.client, 'notifications/resources/updated', ({ params }) => heard.emit('updated', params));
    const stream = await side.client.listen({ resourceSubscriptions: [uri] });
    const updated = once(heard, 'updated');
    await side.call('toggle-subscriber-updates');
    assert.equal((await updated)[0].uri, uri);
    await side.call('toggle-subscriber-updates');
    await stream.close();
  });
});

test('roots are asked for in the call that needs them', async () => {
  const { client, asked, call } =
    await connect(v2, daemon.throughCell('everything'), { capabilities: { roots: {} }, ...pinned });
  assert.match(textOf(await call('get-roots-list')), /file:\/\/\/srv\/example/);
  assert.ok(asked.includes('roots/list'));
  await client.close();
});

test('what client_features does not give is not offered to the server', async () => {
  const { client, asked } = await connect(v2, daemon.throughCell('restricted'), { capabilities, ...pinned });
  const names = (await client.listTools()).tools.map(({ name }) => name);
  assert.ok(!names.includes('trigger-elicitation-request'));
  assert.deepEqual(asked, []);
  await client.close();
});
