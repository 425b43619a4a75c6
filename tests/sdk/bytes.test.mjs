// The lines themselves, without an SDK between: what comes through a cell is what the server wrote,
// byte for byte.

import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';

import { Daemon, unguarded } from './support/daemon.mjs';
import { assertSameLines, call, handshake } from './support/lines.mjs';
import { envelope } from './support/raw_host.mjs';

const daemon = new Daemon();
const project = daemon.makeProject('project');

before(async () => {
  fs.writeFileSync(path.join(project, 'large.txt'), 'line with "quotes" and ünïcode\n'.repeat(30_000));
  daemon.declare('everything', '@modelcontextprotocol/server-everything', [], unguarded);
  daemon.declare('files', '@modelcontextprotocol/server-filesystem', [project],
                 [`read = ["${daemon.directory}/mcp", "${project}"]`]);
  daemon.declareFixture('conformance', 'conformance_server.mjs',
                        { folders: ['conformance'], lines: ['client_features = ["elicitation"]'] });
  await daemon.start();
});
after(() => daemon.stop());

const same = (server, requests) =>
  assertSameLines(daemon.direct(server), daemon.throughCell(server), requests);

test('server-everything answers with the same bytes', () => same('everything', [
  ...handshake,
  { id: 1, method: 'tools/list' },
  { id: 'two', method: 'resources/list' },
  { id: -3, method: 'prompts/list' },
  call('"4"', 'echo', { message: '\u0000\u001f "\\ ü 🚀' }),
  call(5, 'get-tiny-image', {}),
  call(6, 'get-structured-content', { location: 'New York' }),
  call(7, 'no-such-tool', {}),
  { id: 8, method: 'no/such/method' },
  { id: 9, method: 'prompts/get', params: { name: 'simple-prompt' } },
]));

test('server-filesystem answers with the same bytes', () => same('files', [
  ...handshake,
  { id: 1, method: 'tools/list' },
  call(2, 'list_directory', { path: project }),
  call(3, 'read_text_file', { path: path.join(project, 'large.txt') }),
  call(4, 'read_text_file', { path: path.join(project, 'nothing') }),
  call(5, 'read_text_file', { path: '/etc/passwd' }),
]));

// What newer revisions added, and what a proxy might think that it has to understand: icons, titles and
// annotations in lists, user interfaces, links, sounds, data with a schema, trace context.
const trace = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'vendor=opaque', baggage: 'key=value', 'example.org/own': { deep: [1, 2.50, null] },
};
const rich = [
  { id: 'tools', method: 'tools/list' },
  { id: 'resources', method: 'resources/list' },
  { id: 'templates', method: 'resources/templates/list' },
  { id: 'prompts', method: 'prompts/list' },
  { id: 'ui', method: 'resources/read', params: { uri: 'ui://test/panel' } },
  { id: 'blob', method: 'resources/read', params: { uri: 'test://static-binary' } },
  { id: 'template', method: 'resources/read', params: { uri: 'test://template/ü/data' } },
  { id: 'none', method: 'resources/read', params: { uri: 'test://none' } },
  { id: 'prompt', method: 'prompts/get',
    params: { name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: '"b"' } } },
  { id: 'completion', method: 'completion/complete',
    params: {
      ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' }, argument: { name: 'arg1', value: 'pa' },
    } },
  call('structured', 'test_structured_content', {}),
  call('link', 'test_resource_link', {}),
  call('sound', 'test_audio_content', {}),
  call('mixed', 'test_multiple_content_types', {}),
  call('error', 'test_error_handling', {}),
];
const echo = call('meta', 'test_echo_meta', {});

test('all kinds of content pass untouched in the legacy era, trace context too', () =>
  same('conformance', [...handshake, ...rich, { ...echo, params: { ...echo.params, _meta: trace } }]));

test('all kinds of content pass untouched in the modern era, trace context too', () => {
  const modern = (request, meta = {}) =>
    ({ ...request, params: { ...request.params, _meta: { ...envelope, ...meta } } });
  return same('conformance', [...rich.map((request) => modern(request)), modern(echo, trace)]);
});
