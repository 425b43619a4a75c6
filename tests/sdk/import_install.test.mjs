// One command makes six servers of a host's file: two of npm, one of PyPI, one of an image, one far away, and one of npm that reaches it.
// All of them answer, and the host's file starts none of them itself afterwards.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, test } from 'node:test';

import { Layout, missingTools, putFile, putServer } from './support/images.mjs';
import { inBothModes, textOf, user } from './support/place.mjs';
import { RemoteServer } from './support/remote.mjs';

const skip = missingTools.length > 0 && `needs ${missingTools.join(', ')}`;
const packages = ['@modelcontextprotocol/server-filesystem', '@modelcontextprotocol/server-everything', 'mcp-remote'];

function publish(registry) {
  for (const name of packages) registry.publishInstalled(name);
  registry.publishWheel('mcp-notes', '1.0.0');
}

inBothModes(publish, ({ place }) => {
  const far = new RemoteServer({});
  let file;

  before(async () => {
    await far.start();
    const layout = new Layout(path.join(place.directory, 'images'));
    const base = layout.layer((directory) => {
      putServer(directory);
      putFile(directory, 'app/data.txt', 'of the image');
    });
    layout.publish('v1', { Entrypoint: ['server'], Env: ['PATH=/bin'], WorkingDir: '/app', User: '0' }, [base]);
    const note = path.join(place.project, 'note.txt');
    fs.writeFileSync(note, 'of the user');
    fs.chownSync(note, user, user);
    file = path.join(place.home, 'mcp.json');
    fs.writeFileSync(file, JSON.stringify({ mcpServers: {
      files: { command: 'npx', args: ['-y', packages[0], place.project] },
      all: { command: 'npx', args: ['-y', packages[1]] },
      notes: { command: 'uvx', args: ['mcp-notes'] },
      boxed: { command: 'docker', args: ['run', '-i', '--rm', layout.reference('v1')] },
      far: { type: 'http', url: far.url },
      wrapped: { command: 'npx', args: ['-y', 'mcp-remote', far.url] },
    } }, null, 2));
    fs.chownSync(file, user, user);
  });
  after(() => far.stop());

  test('One command adds all six', { skip }, async () => {
    const range = `127.0.0.1/32:${far.port}`;
    const added = await place.cellblock('import', file, '--install', '--yes', '--egress', range, ...place.allowed);
    assert.match(added.err, /6 of 6 servers added/, added.err);
    if (!place.isSystem) await place.start();
  });

  const answers = {
    files: ['read_text_file', () => ({ path: path.join(place.project, 'note.txt') }), /of the user/],
    all: ['echo', () => ({ message: 'right here' }), /right here/],
    notes: ['files', () => ({}), /__init__/],
    boxed: ['read_file', () => ({ path: 'data.txt' }), /of the image/],
    far: ['echo', () => ({ message: 'over there' }), /over there/],
    wrapped: ['echo', () => ({ message: 'over there' }), /over there/],
  };
  for (const [server, [tool, args, expected]] of Object.entries(answers)) {
    test(`${server} answers`, { skip }, async () => {
      assert.match(textOf(await place.call(server, tool, args())), expected);
    });
  }

  test('Its host starts none of them itself any more', { skip }, async () => {
    const done = await place.run(['cellblock', 'import', file, '--into-host', '--yes'], { asUser: true });
    assert.equal(done.code, 0, done.err);
    const { mcpServers } = JSON.parse(fs.readFileSync(file, 'utf8'));
    for (const [name, entry] of Object.entries(mcpServers)) assert.deepEqual(entry.args?.slice(-2), ['connect', name], name);
  });
});
