// Lines that are no messages, of every kind, in both directions: a host is told what is wrong with its
// line and the server never sees it; of a server's line the host never hears, and a call that it
// spoils fails at once instead of hanging. The session goes on after each.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { Daemon } from './support/daemon.mjs';
import { declareMock, said, textOf } from './support/mock.mjs';
import { RawHost, envelope } from './support/raw_host.mjs';

const deep = (depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const ping = (id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;
const withParams = (params) => `{"jsonrpc":"2.0","id":1,"method":"ping","params":${params}}`;
const bytes = (...parts) => Buffer.concat(parts.map((part) => Buffer.from(part)));

const parseError = -32700;
const invalid = -32600;

// [what, line, code of the error, its id]
const refused = [
  ['nothing but a word', 'hello', parseError],
  ['a cut message', '{"jsonrpc":"2.0","id":1', parseError],
  ['two messages', `${ping(1)}${ping(2)}`, parseError],
  ['a trailing comma', '{"jsonrpc":"2.0","id":1,"method":"ping",}', parseError],
  ['a comment', `${ping(1)} // ping`, parseError],
  ['single quotes', "{'jsonrpc':'2.0','id':1,'method':'ping'}", parseError],
  ['a byte order mark', bytes([0xef, 0xbb, 0xbf], ping(1)), parseError],
  ['UTF-16', Buffer.from(ping(1), 'utf16le'), parseError],
  ['a byte that is no UTF-8', bytes('{"jsonrpc":"2.0","id":1,"method":"p', [0xff], '"}'), parseError],
  ['an overlong form', bytes('{"jsonrpc":"2.0","id":1,"method":"', [0xc0, 0xaf], '"}'), parseError],
  ['a surrogate in UTF-8', bytes('{"jsonrpc":"2.0","id":1,"method":"', [0xed, 0xa0, 0x80], '"}'), parseError],
  ['a cut character', bytes('{"jsonrpc":"2.0","id":1,"method":"', [0xe2, 0x82], '"}'), parseError],
  ['a NUL byte', bytes('{"jsonrpc":"2.0","id":1,"method":"p', [0], '"}'), parseError],
  ['a NUL byte at the end', bytes(ping(1), [0]), parseError],
  ['a tab within a string', '{"jsonrpc":"2.0","id":1,"method":"p\ting"}', parseError],
  ['a lone high surrogate', withParams('{"a":"\\ud800"}'), parseError],
  ['a lone low surrogate', withParams('{"a":"\\udc00"}'), parseError],
  ['a lone surrogate as a name', withParams('{"\\ud800":1}'), parseError],
  ['surrogates in the wrong order', withParams('{"a":"\\udc00\\ud800"}'), parseError],
  ['a leading zero', ping('01'), parseError],
  ['a hexadecimal number', ping('0x10'), parseError],
  ['NaN', ping('NaN'), parseError],
  // Beyond a double: one reader would see infinity, another the digits.
  ['an id of 400 digits', ping('9'.repeat(400)), parseError],
  ['a number of 400 digits', withParams(`{"a":${'9'.repeat(400)}}`), parseError],
  ['an exponent of 400', withParams('{"a":1e400}'), parseError],
  ['a batch', `[${ping(1)}]`, invalid],
  ['an empty batch', '[]', invalid],
  ['a text', '"ping"', invalid],
  ['a number', '42', invalid],
  ['null', 'null', invalid],
  ['an empty object', '{}', invalid],
  ['no version', '{"id":1,"method":"ping"}', invalid, 1],
  ['the version 1.0', '{"jsonrpc":"1.0","id":1,"method":"ping"}', invalid, 1],
  ['a version that is a number', '{"jsonrpc":2.0,"id":1,"method":"ping"}', invalid, 1],
  ['a further member', '{"jsonrpc":"2.0","id":1,"method":"ping","extra":0}', invalid, 1],
  ['a method and a result', '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}', invalid, 1],
  ['a method that is a number', '{"jsonrpc":"2.0","id":1,"method":7}', invalid, 1],
  ['params that are a list', withParams('[1]'), invalid, 1],
  ['params that are null', withParams('null'), invalid, 1],
  ['the id null', ping('null'), invalid],
  ['the id true', ping('true'), invalid],
  ['a fraction as id', ping('1.5'), invalid],
  ['an object as id', ping('{}'), invalid],
  ['a list as id', ping('[1]'), invalid],
  ['an id of 2^53', ping('9007199254740992'), invalid],
  ['an id with an exponent', ping('1e5'), invalid],
  ['an id of 2000 bytes', ping(`"${'x'.repeat(2000)}"`), invalid],
  ['a key twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', invalid],
  ['a key twice, once escaped', '{"jsonrpc":"2.0","id":1,"method":"ping","m\\u0065thod":"tools/list"}', invalid],
  ['a key of the parameters twice', withParams('{"name":"a","name":"b"}'), invalid],
  ['a depth of 2000', withParams(`{"a":${deep(2000)}}`), invalid],
];

// What may look strange and is a message.
const accepted = [
  ['a carriage return at the end', `${ping('"crlf"')}\r`, 'crlf'],
  ['spaces around', `  ${ping('"spaces"')}\t `, 'spaces'],
  ['an escaped NUL', withParams('{"a":"\\u0000"}'), 1],
  ['escaped surrogates that belong together', withParams('{"a":"\\ud83d\\ude00"}'), 1],
  ['a number of 250 digits', withParams(`{"a":${'9'.repeat(250)}}`), 1],
  ['a large exponent', withParams('{"a":1e300}'), 1],
  ['an escaped method', '{"jsonrpc":"2.0","id":"escaped","method":"p\\u0069ng"}', 'escaped'],
  ['the id 0', ping('0'), 0],
  ['the empty id', ping('""'), ''],
  ['a negative id', ping('-9007199254740991'), -9007199254740991],
  ['an id of 2^53 - 1', ping('9007199254740991'), 9007199254740991],
];

const daemon = new Daemon();
const kinds = refused.map(([what, line], index) => ({ what, tool: `say_${index}`, line: Buffer.from(line) }));

before(async () => {
  const rules = Object.fromEntries(kinds.map(({ tool, line }) =>
    [`tools/call ${tool}`, [{ base64: line.toString('base64') }, { answer: said('ok') }]]));
  declareMock(daemon, 'mock', rules);
  declareMock(daemon, 'small', { 'tools/call huge': [{ huge: 200_000 }], 'tools/call large': [{ huge: 60_000 }] },
              ['lines = { from_host = "64KiB", from_server = "128KiB", to_host = "64KiB" }']);
  await daemon.start();
});
after(() => daemon.stop());

describe('a line of a host', () => {
  let host;
  before(async () => {
    host = new RawHost(daemon.throughCell('mock'));
    await host.open();
  });
  after(() => host.close());

  for (const [what, line, code, id] of refused) {
    test(`that is ${what} is answered with ${code}`, async () => {
      host.sendBytes(bytes(line, '\n'));
      const answer = await host.receive();
      assert.equal(answer.error?.code, code, JSON.stringify(answer));
      assert.equal(answer.id, id);
      assert.equal('id' in answer, id !== undefined, 'an id that cannot be read is left out');
    });
  }

  for (const [what, line, id] of accepted) {
    test(`with ${what} is a message`, async () => {
      host.sendBytes(bytes(line, '\n'));
      assert.deepEqual(await host.receive(), { jsonrpc: '2.0', id, result: {} });
    });
  }

  test('that is empty is passed over', async () => {
    host.sendBytes('\n\r\n  \n');
    assert.deepEqual((await host.ask('ping')).result, {});
  });

  test('reaches the server only if it is a message', async () => {
    const seen = await host.seen();
    const known = ['initialize', 'notifications/initialized', 'ping', 'tools/call'];
    assert.deepEqual(seen.filter(({ method }) => !known.includes(method)), []);
  });
});

describe('a line of a server', () => {
  let host;
  before(async () => {
    host = new RawHost(daemon.throughCell('mock'));
    await host.open();
  });
  after(() => host.close());

  for (const { what, tool } of kinds) {
    test(`that is ${what} does not reach the host`, async () => {
      const answer = await host.call(tool);
      if (!answer.result.isError) return assert.equal(textOf(answer), 'ok');
      assert.equal(answer.result._meta['cellblock/error'].code, 'bad_answer');
      return undefined;
    });
  }
});

// The way a host of that era opens, and what its calls carry.
const eras = {
  legacy: { open: (host) => host.open(), meta: undefined },
  modern: { open: () => {}, meta: envelope },
};

for (const [era, { open, meta }] of Object.entries(eras)) {
  describe(`a line over its bound, ${era}`, () => {
    let host;
    before(async () => {
      host = new RawHost(daemon.throughCell('small'));
      await open(host);
    });
    after(() => host.close());
    const call = (name, args) => host.ask('tools/call', { name, arguments: args, _meta: meta });
    const tooLarge = ({ result }) => {
      assert.equal(result.isError, true);
      assert.equal(result._meta['cellblock/error'].code, 'too_large');
      assert.equal(result.resultType, era === 'modern' ? 'complete' : undefined);
    };

    test('of a host is refused and the next one is read', async () => {
      host.send({ id: 1, method: 'tools/call', params: { name: 'large', arguments: { text: 'x'.repeat(70_000) } } });
      const { error, ...rest } = await host.receive();
      assert.deepEqual([error.code, rest], [-31005, { jsonrpc: '2.0' }]);
      assert.equal(textOf(await call('large')).length, 60_000);
    });

    test('of a server fails its call and the next one is answered', async () => {
      tooLarge(await call('huge'));
      assert.equal(textOf(await call('large')).length, 60_000);
    });
  });
}
