// server-filesystem works the same through a cell as beside one, and cannot leave what it is given.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { Daemon } from './support/daemon.mjs';
import { assertSame, outcome } from './support/same.mjs';

const server = '@modelcontextprotocol/server-filesystem';
const daemon = new Daemon();
const project = daemon.makeProject('project');
const hidden = path.join(daemon.directory, 'hidden.txt');

before(async () => {
  const reads = `read = ["${daemon.directory}/mcp"]`;
  daemon.declare('files', server, [project], [reads, `write = ["${project}"]`]);
  // Told to serve everything: what it cannot reach then is not held back by its own rules.
  daemon.declare('curious', server, ['/'], [reads, `write = ["${project}"]`]);
  fs.writeFileSync(hidden, 'not for the cell');
  await daemon.start();
});
after(() => daemon.stop());

// The same content at the same path for both sides, one after the other.
function resetProject() {
  for (const name of fs.readdirSync(project)) fs.rmSync(path.join(project, name), { recursive: true });
  fs.writeFileSync(path.join(project, 'a.txt'), 'first\nsecond\nthird\n');
  fs.writeFileSync(path.join(project, 'b.bin'), Buffer.from([0, 1, 2, 255]));
  fs.mkdirSync(path.join(project, 'sub'));
  fs.writeFileSync(path.join(project, 'sub', 'c.md'), '# Grüße\n');
  for (const name of ['a.txt', 'sub/c.md', 'b.bin']) fs.chmodSync(path.join(project, name), 0o666);
  fs.chmodSync(path.join(project, 'sub'), 0o777);
}

const at = (name) => path.join(project, name);
const calls = [
  ['list_allowed_directories', {}],
  ['list_directory', { path: project }],
  ['list_directory_with_sizes', { path: project, sortBy: 'size' }],
  ['directory_tree', { path: project }],
  ['read_file', { path: at('a.txt') }],
  ['read_text_file', { path: at('a.txt'), head: 2 }],
  ['read_text_file', { path: at('sub/c.md') }],
  ['read_media_file', { path: at('b.bin') }],
  ['read_multiple_files', { paths: [at('a.txt'), at('nothing')] }],
  ['search_files', { path: project, pattern: '**/*.md' }],
  ['get_file_info', { path: at('a.txt') }],
  ['write_file', { path: at('new.txt'), content: 'written' }],
  ['edit_file', { path: at('a.txt'), edits: [{ oldText: 'second', newText: '2nd' }] }],
  ['create_directory', { path: at('made/deep') }],
  ['move_file', { source: at('new.txt'), destination: at('made/moved.txt') }],
  ['read_text_file', { path: at('made/moved.txt') }],
  ['read_text_file', { path: '/etc/passwd' }],
  ['read_text_file', { path: at('nothing') }],
];

for (const sdk of sdks) {
  describe(`${sdk.name}, server-filesystem`, () => {
    async function transcript(parameters) {
      resetProject();
      const { client, call } = await connect(sdk, parameters);
      try {
        const tools = await client.listTools();
        const results = [];
        for (const [name, args] of calls) results.push([name, args, await outcome(call(name, args))]);
        return { tools, results };
      } finally {
        await client.close();
      }
    }

    test('gives the same lists and results through the cell', async () => {
      const direct = await transcript(daemon.direct('files'));
      const celled = await transcript(daemon.throughCell('files'));
      assertSame(direct.tools, celled.tools, 'tools');
      direct.results.forEach((expected, index) => {
        assertSame(expected, celled.results[index], `${expected[0]} ${JSON.stringify(expected[1])}`);
      });
    });

    test('cannot read outside of its directory, even when its own rules allow it', async () => {
      const { client, call } = await connect(sdk, daemon.throughCell('curious'));
      try {
        for (const file of [hidden, '/etc/shadow', '/root/.bashrc']) {
          const answer = await call('read_text_file', { path: file });
          assert.equal(answer.isError, true, file);
          assert.match(answer.content[0].text, /ENOENT|EACCES|does not exist/, file);
        }
      } finally {
        await client.close();
      }
    });
  });
}
