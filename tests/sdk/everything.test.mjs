// Everything that server-everything offers over stdio works the same through a cell.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { allFeatures, connect, firstProgress, sdks } from './support/clients.mjs';
import { Daemon, unguarded } from './support/daemon.mjs';
import { assertSame, outcome } from './support/same.mjs';

const server = '@modelcontextprotocol/server-everything';
const features = 'client_features = ["roots", "sampling", "elicitation"]';

const daemon = new Daemon();

before(async () => {
  daemon.declare('everything', server, [], [features, ...unguarded]);
  daemon.declare('restricted', server, []);
  await daemon.start();
});
after(() => daemon.stop());

// get-env is looked at on its own below: a scrubbed environment is the point of a cell.
const toolCalls = [
  ['echo', { message: 'grüße — ünïcode, "quotes", \\backslashes\\ and \u2028' }],
  ['echo', {}],
  ['get-annotated-message', { messageType: 'error', includeImage: true }],
  ['get-annotated-message', { messageType: 'debug' }],
  ['get-resource-links', { count: 4 }],
  ['get-resource-reference', { resourceType: 'Text', resourceId: 3 }],
  ['get-resource-reference', { resourceType: 'Blob', resourceId: 4 }],
  ['get-structured-content', { location: 'Chicago' }],
  ['get-sum', { a: 0.1, b: 0.2 }],
  ['get-sum', { a: 'one' }],
  ['get-tiny-image', {}],
  ['gzip-file-as-resource', { name: 'a.gz', data: 'data:text/plain,hello', outputType: 'resource' }],
  ['gzip-file-as-resource', { name: 'b.gz', data: 'data:text/plain,hello', outputType: 'resourceLink' }],
  ['trigger-long-running-operation', { duration: 0.2, steps: 2 }],
  ['get-roots-list', {}],
  ['trigger-elicitation-request', {}],
  ['trigger-sampling-request', { prompt: 'hello', maxTokens: 10 }],
  ['toggle-simulated-logging', {}],
  ['toggle-simulated-logging', {}],
  ['toggle-subscriber-updates', {}],
  ['toggle-subscriber-updates', {}],
  ['no-such-tool', {}],
];

const prompts = [
  { name: 'simple-prompt' },
  { name: 'args-prompt', arguments: { city: 'Ulm', state: 'Bayern' } },
  { name: 'completable-prompt', arguments: { department: 'Engineering', name: 'Alice' } },
  { name: 'resource-prompt', arguments: { resourceType: 'Text', resourceId: '2' } },
  { name: 'no-such-prompt' },
];

const completions = [
  { ref: { type: 'ref/prompt', name: 'completable-prompt' }, argument: { name: 'department', value: 'E' } },
  { ref: { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' },
    argument: { name: 'resourceId', value: '1' } },
];

for (const sdk of sdks) {
  describe(`${sdk.name}, server-everything`, () => {
    let direct;
    let celled;

    // Runs the same on both sides and compares.
    async function same(what, run) {
      const [expected, actual] = await Promise.all([direct, celled].map((side) => outcome(run(side))));
      assertSame(expected, actual, what);
      return actual;
    }

    before(async () => {
      direct = await connect(sdk, daemon.direct('everything'), { capabilities: allFeatures });
      celled = await connect(sdk, daemon.throughCell('everything'), { capabilities: allFeatures });
    });
    after(() => Promise.all([direct, celled].map((side) => side?.client.close())));

    test('introduces itself in the same way', async () => {
      await same('capabilities', async ({ client }) => client.getServerCapabilities());
      await same('version', async ({ client }) => client.getServerVersion());
      await same('instructions', async ({ client }) => client.getInstructions());
    });

    test('lists the same tools, resources, templates and prompts', async () => {
      const { result } = await same('tools', ({ client }) => client.listTools());
      assert.ok(result.tools.length >= 12);
      await same('resources', ({ client }) => client.listResources());
      await same('templates', ({ client }) => client.listResourceTemplates());
      await same('prompts', ({ client }) => client.listPrompts());
    });

    for (const [name, args] of toolCalls) {
      test(`calls ${name} ${JSON.stringify(args)} with the same result`, async () => {
        await same(name, ({ call }) => call(name, args));
      });
    }

    test('reads every resource with the same result', async () => {
      const { resources } = await direct.client.listResources();
      const dynamic = ['demo://resource/dynamic/text/1', 'demo://resource/dynamic/blob/2', 'demo://nothing'];
      for (const uri of [...resources.map((resource) => resource.uri), ...dynamic]) {
        await same(uri, ({ client }) => client.readResource({ uri }));
      }
    });

    for (const params of prompts) {
      test(`gets the prompt ${params.name} with the same result`, async () => {
        await same(params.name, ({ client }) => client.getPrompt(params));
      });
    }

    test('completes arguments in the same way', async () => {
      for (const params of completions) {
        await same(JSON.stringify(params.ref), ({ client }) => client.complete(params));
      }
    });

    test('subscribes, sets the log level and pings in the same way', async () => {
      const uri = 'demo://resource/dynamic/text/1';
      await same('subscribe', ({ client }) => client.subscribeResource({ uri }));
      await same('unsubscribe', ({ client }) => client.unsubscribeResource({ uri }));
      await same('log level', ({ client }) => client.setLoggingLevel('warning'));
      await same('ping', ({ client }) => client.ping());
    });

    test('asks the host only what the host offered', () => {
      assert.ok(celled.asked.includes('roots/list'));
      assert.ok(celled.asked.includes('sampling/createMessage'));
      assert.ok(celled.asked.includes('elicitation/create'));
    });

    test('reports progress under the token of the host', async () => {
      const heard = await firstProgress(celled.call, 2, 'trigger-long-running-operation', { duration: 60, steps: 600 });
      assert.deepEqual(heard.map(({ progress }) => progress), [1, 2]);
    });

    test('cancels a call and goes on', async () => {
      const controller = new AbortController();
      const slow = celled.call('trigger-long-running-operation', { duration: 600, steps: 600 },
                               { signal: controller.signal });
      controller.abort('changed my mind');
      await assert.rejects(slow);
      assert.equal((await celled.call('echo', { message: 'still here' })).content[0].text, 'Echo: still here');
    });

    test('answers many calls at once, each with its own answer', async () => {
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) => celled.call('get-sum', { a: index, b: 1 })));
      answers.forEach((answer, index) => assert.match(answer.content[0].text, new RegExp(` ${index + 1}\\.`)));
    });

    test('shows the server nothing but the declared environment', async () => {
      const { content } = await celled.call('get-env');
      const names = Object.keys(JSON.parse(content[0].text)).sort();
      assert.deepEqual(names, ['HOME', 'LANG', 'NODE_OPTIONS', 'PATH', 'PYTHONNOUSERSITE', 'TMPDIR', 'TZ', 'USER']);
    });
  });

  describe(`${sdk.name}, a server without client features`, () => {
    test('does not learn what the host could do', async () => {
      const side = await connect(sdk, daemon.throughCell('restricted'), { capabilities: allFeatures });
      try {
        const names = (await side.client.listTools()).tools.map((tool) => tool.name);
        assert.ok(names.includes('echo'));
        for (const name of ['get-roots-list', 'trigger-sampling-request', 'trigger-elicitation-request']) {
          assert.ok(!names.includes(name), name);
        }
        assert.deepEqual(side.asked, []);
      } finally {
        await side.client.close();
      }
    });
  });
}

describe('SDK v2 as a probing host', () => {
  const sdk = sdks[1];

  test('starts the bridge twice, and gets a session', async () => {
    const side = await connect(sdk, daemon.throughCell('everything'),
                               { versionNegotiation: { mode: 'auto' } });
    try {
      assert.equal((await side.call('echo', { message: 'hello' })).content[0].text, 'Echo: hello');
    } finally {
      await side.client.close();
    }
  });
});
