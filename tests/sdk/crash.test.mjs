// Hosts behind `cellblock connect` when a process of cellblock's own is killed.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { Daemon } from './support/daemon.mjs';
import { declareMock, said, textOf } from './support/mock.mjs';
import { RawHost, envelope } from './support/raw_host.mjs';

const daemon = new Daemon();
const began = { send: { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'began' } } };
const rules = {
  'tools/call ok': [{ answer: said('ok') }],
  'tools/call slow': [began, { hold: 'slow' }],
  'logging/setLevel': [{ answer: {} }],
};

before(async () => {
  declareMock(daemon, 'mock', rules, ['era = "legacy"']);
  daemon.declare('everything', '@modelcontextprotocol/server-everything', ['stdio'], ['pin = "off"']);
  await daemon.start();
});
after(() => daemon.stop());

// A call that the server has got and does not answer.
async function inFlight(host, id) {
  host.send({ id, method: 'tools/call', params: { name: 'slow', arguments: {} } });
  assert.equal((await host.receive()).params.data, 'began');
}

function assertLost(answer, id) {
  assert.equal(answer.id, id);
  assert.equal(answer.result.isError, true);
  assert.match(textOf(answer), /whether it was carried out is not known/);
}

const methodsOf = (seen) => seen.map(({ method, params }) => (method === 'tools/call' ? params.name : method));

for (const which of ['gateway', 'launcher', 'supervisor']) {
  describe(`when the ${which} is killed`, () => {
    test('a host goes on in the same session, whose server is told of it anew', async () => {
      const host = new RawHost(daemon.throughCell('mock'));
      await host.open();
      await host.ask('logging/setLevel', { level: 'error' });
      await daemon.crash(which);
      assert.deepEqual(methodsOf(await host.seen()), ['initialize', 'notifications/initialized', 'logging/setLevel', 'seen']);
      await host.close();
    });

    test('a call in flight is answered with one error, and not made again', async () => {
      const host = new RawHost(daemon.throughCell('mock'));
      await host.open();
      await inFlight(host, 'lost');
      await daemon.crash(which);
      assertLost(await host.receive(), 'lost');
      assert.deepEqual(methodsOf(await host.seen()), ['initialize', 'notifications/initialized', 'seen']);
      await host.close();
    });

    test('each of many calls in flight is answered once', async () => {
      const host = new RawHost(daemon.throughCell('mock'));
      await host.open();
      for (const id of ['a', 'b', 'c']) await inFlight(host, id);
      await daemon.crash(which);
      const answers = [await host.receive(), await host.receive(), await host.receive()];
      assert.deepEqual(answers.map(({ id }) => id).sort(), ['a', 'b', 'c']);
      answers.forEach((answer) => assertLost(answer, answer.id));
      assert.equal(textOf(await host.call('ok')), 'ok');
      await host.close();
    });

    test('a host in the middle of a line ends it for the next one', async () => {
      const host = new RawHost(daemon.throughCell('mock'));
      await host.open();
      const line = `${JSON.stringify({ jsonrpc: '2.0', id: 'cut', method: 'tools/call', params: { name: 'ok', arguments: {} } })}\n`;
      host.sendBytes(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n${line.slice(0, 40)}`);
      await host.receive(); // so what came with it has been read
      await daemon.crash(which);
      host.sendBytes(line.slice(40));
      assert.equal(textOf(await host.receive()), 'ok');
      await host.close();
    });

    test('a host of the modern era goes on', async () => {
      const host = new RawHost(daemon.throughCell('mock'));
      const params = { name: 'ok', arguments: {}, _meta: envelope };
      assert.equal(textOf(await host.ask('tools/call', params)), 'ok');
      await daemon.crash(which);
      assert.equal(textOf(await host.ask('tools/call', params)), 'ok');
      await host.close();
    });

    test('a host of all servers as one goes on', async () => {
      const host = new RawHost(daemon.together());
      assert.equal(textOf(await host.call('mock__ok')), 'ok');
      await daemon.crash(which);
      host.send({ id: 'after', method: 'tools/call', params: { name: 'mock__ok', arguments: {} } });
      for (;;) {
        const answer = await host.receive();
        if (answer.id !== 'after') continue; // what may have changed meanwhile
        assert.equal(textOf(answer), 'ok');
        break;
      }
      await host.close();
    });

    for (const sdk of sdks) {
      test(`${sdk.name} calls a tool of a real server before and after`, async () => {
        const { client, call } = await connect(sdk, daemon.throughCell('everything'));
        assert.match(JSON.stringify(await call('echo', { message: 'one' })), /one/);
        await daemon.crash(which);
        assert.match(JSON.stringify(await call('echo', { message: 'two' })), /two/);
        await client.close();
      });
    }
  });
}

describe('a client over HTTP, when the gateway is killed', () => {
  const over = new Daemon();
  const port = 20_000 + (process.pid % 20_000);
  let token;
  before(async () => {
    declareMock(over, 'mock', rules, ['era = "legacy"']);
    token = over.listenOnHttp(port);
    await over.start();
  });
  after(() => over.stop());

  async function post(message, headers) {
    const response = await fetch(`http://127.0.0.1:${port}/mcp/mock`, {
      method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', Authorization: `Bearer ${token}`, ...headers },
    });
    return { status: response.status, session: response.headers.get('mcp-session-id'), text: response.text() };
  }

  const modern = (id, name) => post(
    { id, method: 'tools/call', params: { name, arguments: {}, _meta: envelope } },
    { 'Mcp-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': name },
  );

  test('goes on with its next request in the modern era, and hears once of what was in flight', async () => {
    assert.match(await (await modern(1, 'ok')).text, /"ok"/);
    const lost = modern(2, 'slow');
    for (let calls = 0; calls < 2;) {
      const { servers } = JSON.parse(await over.command('status', '--json'));
      calls = servers[0].cells.reduce((sum, cell) => sum + cell.calls, 0);
    }
    await over.crash('gateway');
    assert.match(await (await lost).text, /"id":2,"error":.*server_failed/);
    assert.match(await (await modern(3, 'ok')).text, /"ok"/);
  });

  test('is told in the legacy era that its session is over, as the revision has it', async () => {
    const clientInfo = { name: 'http', version: '1' };
    const { session } = await post({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
    await over.crash('gateway');
    const headers = { 'Mcp-Session-Id': session, 'Mcp-Protocol-Version': '2025-11-25' };
    let { status, text } = await post({ id: 2, method: 'ping' }, headers);
    if (status === 200) { // on its way when the gateway's end was not yet seen
      assert.match(await text, /"id":2,"error":.*server_failed/);
      ({ status } = await post({ id: 3, method: 'ping' }, headers));
    }
    assert.equal(status, 404);
  });
});

test('more than one crash is ridden through', async () => {
  const host = new RawHost(daemon.throughCell('mock'));
  await host.open();
  for (let i = 0; i < 3; ++i) {
    await inFlight(host, i);
    await daemon.crash('gateway');
    assertLost(await host.receive(), i);
    assert.equal(textOf(await host.call('ok')), 'ok');
  }
  await host.close();
});
