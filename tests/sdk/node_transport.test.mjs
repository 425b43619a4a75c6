// CellblockTransport, the client for Node, with the official SDK's Client unchanged, against a daemon that says what a
// test says.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { describe, test } from 'node:test';

import { CellblockError, CellblockTransport, defaultSocketPath } from '../../client/node/index.js';
import { isPlainUri } from '../../client/node/lib/permission.js';
import { distrust } from '../../client/node/lib/socket_path.js';
import { sdks } from './support/clients.mjs';
import { FakeDaemon } from './support/fake_daemon.mjs';

const [sdk] = sdks;
const said = (text) => ({ content: [{ type: 'text', text }] });
const textOf = (result) => result.content[0].text;

// Runs `talk` with a client over a transport to a daemon of that script.
async function withClient(script, options, talk, capabilities = {}) {
  const daemon = new FakeDaemon(...[script].flat());
  await daemon.start();
  const transport = new CellblockTransport({ socket: daemon.socket, server: 'files', ...options });
  const client = sdk.makeClient({ capabilities });
  try {
    await client.connect(transport);
    await talk({ client, transport, call: (name, args = {}, extra) => sdk.callTool(client, { name, arguments: args }, extra) });
  } finally {
    await client.close();
    await daemon.stop();
  }
}

// Greets, and answers every call with its tool's name.
const answering = async (peer) => {
  await peer.greet();
  for (let call = await peer.hear(); call; call = await peer.hear()) {
    if (call.id !== undefined) peer.say({ id: call.id, result: said(call.params.name ?? call.method) });
  }
};

const code = (expected) => (error) => {
  assert.equal(error.code, expected, error.message);
  return true;
};

describe('options', () => {
  test('that cannot mean what they say are refused', () => {
    for (const options of [
      { servers: 'files' }, { server: 7 }, { tools: 'some' }, { onApproval: 'yes' }, { limits: { incomingLine: 0 } },
      { limits: { lines: 1 } }, { reconnect: { attempts: 0 } }, { approvalTimeoutMs: 0 }, { attachTimeoutMs: 2 ** 31 },
      { permission: { otherwise: 'maybe' } }, { permission: { rules: [{ name: '*crash' }] } },
      { permission: { rules: [{ tool: 'crash' }] } }, { permission: { rules: [{ verdict: 'never' }] } },
      { permission: { rules: [{ server: 'No Server' }] } }, { permission: { rules: [{ kind: 'other', name: 'tools/call' }] } },
      { permission: { rules: [{ kind: 'resource', name: 'file:///a/../b' }] } },
    ]) {
      assert.throws(() => new CellblockTransport(options), code('invalid_argument'), JSON.stringify(options));
    }
  });

  test('may name every kind of rule', () => {
    const rules = [{ name: 'read_*', verdict: 'allow' }, { kind: 'resource', name: 'file:///data/*', verdict: 'deny' },
                   { kind: 'prompt', name: 'Grüße', server: 'files' }, { kind: 'other', name: 'completion/complete' }];
    assert.ok(new CellblockTransport({ permission: { rules, otherwise: 'ask' } }));
  });
});

describe('a socket', () => {
  const place = (owner, mode, name = '/') => ({ path: name, owner, mode });

  test('is trusted where only root, this user or its own listener can have put it there', () => {
    const facts = (...directories) => ({ self: 1000, socket: 700, directories });
    assert.equal(distrust(facts(place(0, 0o755), place(700, 0o755))), '');
    assert.equal(distrust(facts(place(0, 0o755), place(0, 0o1777), place(1000, 0o700))), '');
    assert.match(distrust(facts(place(0, 0o755), place(0, 0o1777))), /can be written by others/);
    assert.match(distrust(facts(place(0, 0o755), place(0, 0o775), place(700, 0o755))), /can be written by others/);
    assert.match(distrust(facts(place(0, 0o755), place(700, 0o755), place(700, 0o755))), /belongs to uid 700/);
    assert.match(distrust(facts(place(0, 0o755), place(33, 0o755))), /belongs to uid 33/);
  });

  test('in a directory of others is refused before a byte is sent', async () => {
    let connections = 0;
    const daemon = new FakeDaemon(async () => { connections += 1; });
    await daemon.start();
    fs.chmodSync(daemon.directory, 0o777);
    await assert.rejects(new CellblockTransport({ socket: daemon.socket }).start(), code('untrusted_listener'));
    await daemon.stop();
    assert.equal(connections, 0);
  });

  test('that is not there is unreachable', async () => {
    await assert.rejects(new CellblockTransport({ socket: '/nonexistent/x.sock' }).start(), code('unreachable'));
  });

  test('is found as the other clients find it', () => {
    assert.equal(defaultSocketPath({ CELLBLOCK_SOCKET: '/a' }), '/a');
    assert.equal(defaultSocketPath({ XDG_RUNTIME_DIR: '/nonexistent' }), '/run/cellblock/cellblock.sock');
  });
});

describe('the SDK\'s client', () => {
  test('attaches with what the options say, and calls', async () => {
    let greeting;
    const script = async (peer) => {
      greeting = await peer.greet();
      await peer.answerNext(said('done'));
      await peer.hear();
    };
    const options = { role: 'coder', labels: { org: 'acme' }, tools: 'search', onDemand: true };
    await withClient(script, options, async ({ call, transport }) => {
      assert.equal(textOf(await call('write')), 'done');
      assert.equal(transport.session, '1');
    });
    assert.deepEqual(greeting.attach.params,
                     { server: 'files', start: 'on_demand', tools: 'search', role: 'coder', labels: { org: 'acme' } });
    assert.deepEqual(greeting.initialize.params.capabilities, {});
    assert.equal(greeting.initialized.method, 'notifications/initialized');
  });

  test('is told why its server is refused', async () => {
    const daemon = new FakeDaemon(async (peer) => {
      const { id } = await peer.hear();
      peer.say({ id, error: { code: -31019, message: 'rests', data: { code: 'quarantined', advice: 'ask' } } });
    });
    await daemon.start();
    const client = sdk.makeClient({ capabilities: {} });
    await assert.rejects(client.connect(new CellblockTransport({ socket: daemon.socket })), (error) => {
      assert.ok(error instanceof CellblockError);
      assert.deepEqual([error.code, error.failure, error.advice], ['refused', 'quarantined', 'ask']);
      return true;
    });
    await daemon.stop();
  });

  test('has its cancelling told to the server', async () => {
    const controller = new AbortController();
    let told;
    const script = async (peer) => {
      await peer.greet();
      const call = await peer.hear();
      controller.abort();
      told = await peer.hear();
      assert.equal(told.params.requestId, call.id);
    };
    await withClient(script, {}, ({ call }) => assert.rejects(call('slow', {}, { signal: controller.signal })));
    assert.equal(told.method, 'notifications/cancelled');
  });
});

describe('permission', () => {
  const rules = [{ name: 'read_*', verdict: 'allow' }, { name: 'delete_*', verdict: 'deny', reason: 'not by a model' },
                 { name: 'write', verdict: 'ask', reason: 'it writes' }];

  test('denies before anything leaves, and lets the rest pass', async () => {
    await withClient(answering, { permission: { rules } }, async ({ call }) => {
      assert.equal(textOf(await call('read_file')), 'read_file');
      await assert.rejects(call('delete_all'), (error) => {
        assert.match(error.message, /the host denied this call: not by a model/);
        return code('denied_by_host')(error);
      });
      await assert.rejects(call('write'), /nobody can be asked/);
      assert.equal(textOf(await call('other')), 'other');
    });
  });

  test('shows a person the call as it is sent, and sends it after his word', async () => {
    const seen = [];
    const onApproval = async (call) => {
      seen.push(call);
      return { verdict: 'allow' };
    };
    await withClient(answering, { permission: { rules }, onApproval }, async ({ call }) => {
      assert.equal(textOf(await call('write', { path: '/data' })), 'write');
    });
    assert.equal(seen.length, 1);
    const { name, server, kind, reason } = seen[0];
    assert.deepEqual([name, server, kind, reason, seen[0].arguments], ['write', 'files', 'tool', 'it writes', '{"path":"/data"}']);
  });

  test('of a function counts where it is stricter, and what it throws denies', async () => {
    const onPermission = ({ name }) => {
      if (name === 'throws') throw new Error('oops');
      return name === 'delete_all' ? 'allow' : { verdict: name === 'bad' ? 'yes' : 'allow' };
    };
    await withClient(answering, { permission: { rules }, onPermission }, async ({ call }) => {
      await assert.rejects(call('delete_all'), code('denied_by_host'));
      await assert.rejects(call('throws'), /onPermission threw: oops/);
      await assert.rejects(call('bad'), /gave no verdict/);
      assert.equal(textOf(await call('good')), 'good');
    });
  });

  test('lets other calls pass while a person thinks, and is over where the call is cancelled', async () => {
    const controller = new AbortController();
    let over;
    const onApproval = (call, { signal }) => new Promise(() => { over = signal; });
    await withClient(answering, { permission: { rules }, onApproval }, async ({ call }) => {
      const held = assert.rejects(call('write', {}, { signal: controller.signal }));
      assert.equal(textOf(await call('read_file')), 'read_file');
      controller.abort();
      await held;
      assert.equal(textOf(await call('read_file')), 'read_file', 'and no cancelling of what was not sent');
      assert.equal(over.aborted, true);
    });
  });

  test('is denied where nobody answers in time', async () => {
    const options = { permission: { rules }, onApproval: () => new Promise(() => {}), approvalTimeoutMs: 10 };
    await withClient(answering, options, ({ call }) => assert.rejects(call('write'), /nobody answered in time/));
  });

  test('compares a URI in its plain spelling alone', async () => {
    for (const uri of ['file:///a/b', 'file:///', 'note:a', 'https://x.example:80/a?b=c#d']) assert.ok(isPlainUri(uri), uri);
    for (const uri of ['file:///a/../b', 'file:///a/%2e%2e/b', 'FILE:///a', 'file:///a//b', 'file:///./a', 'file:///a/..;x/b',
                       'https://X/a', 'no scheme', 'file:///a\\b']) assert.ok(!isPlainUri(uri), uri);
    const permission = { rules: [{ kind: 'resource', name: 'file:///etc/*', verdict: 'deny' },
                                 { kind: 'resource', name: 'note:a', verdict: 'deny' }] };
    await withClient(answering, { permission }, async ({ client }) => {
      for (const uri of ['file:///etc/shadow', 'file:///data/../etc/shadow', 'FILE:///etc/shadow', 'note:a?b']) {
        await assert.rejects(client.readResource({ uri }), code('denied_by_host'), uri);
      }
    });
  });
});

describe('a question of the gateway for the user', () => {
  const question = (id) => ({ id, method: 'elicitation/create', params: {
    message: 'cellblock: may this call be made? push {"force":true}', requestedSchema: { type: 'object', properties: {} },
    _meta: { 'cellblock/approval': { id: 1, server: 'git', method: 'tools/call', name: 'push', arguments: '{"force":true}',
                                     params: '{}' } } } });

  test('goes to onApproval, which the server is told of as elicitation', async () => {
    const seen = [];
    let greeting;
    const script = async (peer) => {
      greeting = await peer.greet();
      const call = await peer.hear();
      peer.say(question('q1'));
      assert.deepEqual((await peer.hear()).result, { action: 'accept', content: { allow: true } });
      peer.say(question('q2'));
      assert.deepEqual((await peer.hear()).result, { action: 'decline' });
      peer.say({ id: 'e', method: 'elicitation/create', params: { message: 'a server asks', requestedSchema: {} } });
      assert.deepEqual((await peer.hear()).result, { action: 'cancel' }, 'a server\'s own question is none of that');
      peer.say({ id: call.id, result: said('done') });
      await peer.hear();
    };
    const onApproval = (call) => (seen.push(call) === 1 ? 'allow' : 'deny');
    await withClient(script, { onApproval }, async ({ call }) => assert.equal(textOf(await call('push')), 'done'));
    assert.deepEqual(greeting.initialize.params.capabilities, { elicitation: {} });
    const { server, name, kind } = seen[0];
    assert.deepEqual([server, name, kind, seen[0].arguments], ['git', 'push', 'tool', '{"force":true}']);
  });

  test('is over when it is taken back', async () => {
    let over;
    const script = async (peer) => {
      await peer.greet();
      const call = await peer.hear();
      peer.say(question('q'));
      peer.say({ method: 'notifications/cancelled', params: { requestId: 'q' } });
      peer.say({ id: call.id, result: said('done') });
      assert.equal(await peer.hear(), undefined, 'no answer');
    };
    const onApproval = (call, { signal }) => new Promise(() => { over = signal; });
    await withClient(script, { onApproval }, async ({ call }) => assert.equal(textOf(await call('push')), 'done'));
    assert.equal(over.aborted, true);
  });
});

describe('bounds', () => {
  const limits = { incomingLine: 4096, outgoingLine: 2048, callsInFlight: 2 };

  test('of what is sent refuse a message before it leaves', async () => {
    await withClient(answering, { limits }, async ({ call }) => {
      await assert.rejects(call('a', { text: 'x'.repeat(3000) }), code('too_large'));
      assert.equal(textOf(await call('a')), 'a');
    });
  });

  test('of calls in flight refuse one more', async () => {
    const script = async (peer) => {
      await peer.greet();
      const calls = [await peer.hear(), await peer.hear()];
      for (const { id } of calls) peer.say({ id, result: said('done') });
      await peer.hear();
    };
    await withClient(script, { limits }, async ({ call }) => {
      const open = [call('a'), call('b')];
      await assert.rejects(call('c'), code('too_many'));
      await Promise.all(open);
    });
  });

  test('of what is heard fail the call whose answer is too long, and that one alone', async () => {
    const script = async (peer) => {
      await peer.greet();
      const long = 'x'.repeat(9000);
      const first = await peer.hear();
      peer.say({ id: first.id, result: said(long) });
      const second = await peer.hear();
      peer.say(`{"result":{"content":[],"long":"${long}","x":{"id":77}},"jsonrpc":"2.0", "id": ${second.id} }\n`);
      const third = await peer.hear();
      peer.say({ id: 'q', method: 'roots/list', params: { long } });
      assert.equal((await peer.hear()).error.code, -32603);
      peer.say({ method: 'notifications/message', params: { level: 'info', data: long } });
      peer.say({ id: third.id, result: said('done') });
      await peer.hear();
    };
    await withClient(script, { limits }, async ({ call }) => {
      for (const name of ['a', 'b']) {
        await assert.rejects(call(name), (error) => {
          assert.equal(error.data?.code, 'too_large', error.message);
          return true;
        });
      }
      assert.equal(textOf(await call('c')), 'done');
    });
  });

  test('end a connection whose line has no end, or says what is not JSON-RPC', async () => {
    for (const [bytes, expected] of [['x'.repeat(100_000), 'too_large'], ['oh no\n', 'protocol'], ['[]\n', 'protocol']]) {
      const script = async (peer) => {
        await peer.greet();
        await peer.hear();
        peer.say(bytes);
      };
      await withClient(script, { limits, reconnect: false }, ({ call }) => assert.rejects(call('a'), (error) => {
        assert.equal(error.data?.code, expected, error.message);
        return true;
      }));
    }
  });
});

describe('a lost connection', () => {
  const dying = async (peer) => {
    await peer.greet();
    await peer.hear();
    peer.end();
  };
  const lost = (error) => {
    assert.equal(error.data?.code, 'disconnected', error.message);
    return true;
  };

  test('fails what is in flight, comes back, and greets the server as before', async () => {
    const greetings = [];
    const back = async (peer) => {
      greetings.push(await peer.greet());
      await peer.answerNext(said('again'));
      await peer.hear();
    };
    let times = 0;
    const options = { reconnect: { firstWaitMs: 0 }, onReconnected: () => { times += 1; } };
    await withClient([dying, back], options, async ({ call }) => {
      await assert.rejects(call('a'), lost);
      assert.equal(textOf(await call('b')), 'again');
    });
    assert.equal(times, 1);
    assert.equal(greetings[0].attach.params.server, 'files');
    assert.equal(greetings[0].initialize.params.protocolVersion, '2025-11-25');
    assert.equal(greetings[0].initialized.method, 'notifications/initialized');
  });

  test('ends the transport where it is not to come back, or cannot', async () => {
    const refusing = async (peer) => {
      const { id } = await peer.hear();
      peer.say({ id, error: { code: -31001, message: 'no such server' } });
    };
    for (const [scripts, reconnect] of [[[dying], false], [[dying, refusing], { firstWaitMs: 0 }]]) {
      await withClient(scripts, { reconnect }, async ({ client, call }) => {
        const closed = new Promise((resolve) => { client.onclose = resolve; });
        await assert.rejects(call('a'), lost);
        await closed;
        await assert.rejects(call('b'));
      });
    }
  });

  test('is tried no more than so often', async () => {
    let attempts = 0;
    const closing = async (peer) => {
      attempts += 1;
      await peer.hear();
      peer.end();
    };
    await withClient([dying, closing], { reconnect: { attempts: 3, firstWaitMs: 0 } }, async ({ client, call }) => {
      const closed = new Promise((resolve) => { client.onclose = resolve; });
      await assert.rejects(call('a'), lost);
      await closed;
    });
    assert.equal(attempts, 3);
  });

  test('takes no answer of the host to a question of the old server', async () => {
    let answered;
    const asking = async (peer) => {
      await peer.greet();
      peer.say({ id: 1, method: 'roots/list' });
      await peer.hear();
      peer.end();
    };
    const back = async (peer) => {
      await peer.greet();
      const next = await peer.hear();
      assert.equal(next.method, 'tools/call', JSON.stringify(next));
      peer.say({ id: next.id, result: said('b') });
      await peer.hear();
    };
    const daemon = new FakeDaemon(asking, back);
    await daemon.start();
    const client = sdk.makeClient({ capabilities: { roots: {} } });
    const asked = new Promise((resolve) => {
      sdk.answer(client, 'roots/list', () => {
        resolve();
        return new Promise((answer) => { answered = answer; });
      });
    });
    await client.connect(new CellblockTransport({ socket: daemon.socket, reconnect: { firstWaitMs: 0 } }));
    await asked;
    await assert.rejects(sdk.callTool(client, { name: 'a', arguments: {} }), lost);
    answered({ roots: [] });
    assert.equal(textOf(await sdk.callTool(client, { name: 'b', arguments: {} })), 'b');
    await client.close();
    await daemon.stop();
  });
});

test('its types are those of what it exports', () => {
  const types = fs.readFileSync(path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname),
                                          '../../client/node/index.d.ts'), 'utf8');
  for (const name of ['CellblockTransport', 'CellblockError', 'defaultSocketPath']) {
    assert.match(types, new RegExp(`export (?:class|function) ${name}\\b`));
  }
});
