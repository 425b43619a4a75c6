// The two official TypeScript clients with one face, so that each test is written once.

import { createRequire } from 'node:module';
import * as path from 'node:path';
import { fixtures } from './daemon.mjs';

const require = createRequire(path.join(fixtures, 'package.json'));

const v1 = {
  ...require('@modelcontextprotocol/sdk/client/index.js'),
  ...require('@modelcontextprotocol/sdk/client/stdio.js'),
  types: require('@modelcontextprotocol/sdk/types.js'),
};
const v2 = {
  ...require('@modelcontextprotocol/client'),
  ...require('@modelcontextprotocol/client/stdio'),
};

const requestSchemas = {
  'roots/list': v1.types.ListRootsRequestSchema,
  'sampling/createMessage': v1.types.CreateMessageRequestSchema,
  'elicitation/create': v1.types.ElicitRequestSchema,
};

const notificationSchemas = {
  'notifications/resources/updated': v1.types.ResourceUpdatedNotificationSchema,
  'notifications/tools/list_changed': v1.types.ToolListChangedNotificationSchema,
};

const identity = { name: 'cellblock-test-host', version: '1.0.0' };

export const sdks = [
  {
    name: 'SDK v1',
    Transport: v1.StdioClientTransport,
    makeClient: (options) => new v1.Client(identity, options),
    callTool: (client, params, options) => client.callTool(params, undefined, options),
    answer: (client, method, handler) => client.setRequestHandler(requestSchemas[method], handler),
    hear: (client, method, handler) => client.setNotificationHandler(notificationSchemas[method], handler),
  },
  {
    name: 'SDK v2',
    Transport: v2.StdioClientTransport,
    makeClient: (options) => new v2.Client(identity, options),
    callTool: (client, params, options) => client.callTool(params, options),
    answer: (client, method, handler) => client.setRequestHandler(method, handler),
    hear: (client, method, handler) => client.setNotificationHandler(method, handler),
  },
];

// What the test host says to a server that asks; always the same, so that results can be compared.
const answers = {
  'roots/list': () => ({ roots: [{ uri: 'file:///srv/example', name: 'example' }] }),
  'sampling/createMessage': () => ({
    role: 'assistant', model: 'test-model', content: { type: 'text', text: 'a sampled answer' },
  }),
  'elicitation/create': () => ({ action: 'accept', content: { name: 'Ada', integer: 7 } }),
};

export const allFeatures = { roots: { listChanged: true }, sampling: {}, elicitation: {} };

// Connects a client over those transport parameters. `asked` collects the methods of the requests that
// the server sent. `answers` are used in place of the usual ones.
export async function connect(sdk, parameters, { capabilities = {}, answers: own = {}, ...options } = {}) {
  const client = sdk.makeClient({ capabilities, ...options });
  const asked = [];
  for (const [method, answer] of Object.entries({ ...answers, ...own })) {
    if (!(method.split('/')[0] in capabilities)) continue;
    sdk.answer(client, method, (request) => {
      asked.push(method);
      return answer(request);
    });
  }
  await client.connect(new sdk.Transport(parameters));
  return { client, asked, call: (name, args = {}, extra) => sdk.callTool(client, { name, arguments: args }, extra) };
}

// The first `count` progress notifications of a call that is cancelled then. (A call that ends by itself
// does not show what was sent: a client drops the progress that comes in one read with the answer.)
export async function firstProgress(call, count, name, args) {
  const heard = [];
  const controller = new AbortController();
  const onprogress = (progress) => { if (heard.push(progress) === count) controller.abort('heard enough'); };
  const answer = await call(name, args, { signal: controller.signal, onprogress }).catch((error) => error);
  if (heard.length < count) throw new Error(`heard ${heard.length} of ${count}`, { cause: answer });
  return heard.slice(0, count);
}
