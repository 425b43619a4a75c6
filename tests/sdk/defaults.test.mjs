// Rules about arguments that a call leaves out: server-filesystem sorts by name where nobody says by what.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { Daemon } from './support/daemon.mjs';

const daemon = new Daemon();
const project = daemon.makeProject('project');
const rule = (effect) => ['[[server.files.rule]]', `effect = "${effect}"`, 'tools = ["list_directory_with_sizes"]',
                          'arguments.sortBy = { equals = "name" }'];

before(async () => {
  daemon.declare('files', '@modelcontextprotocol/server-filesystem', [project],
                 [`read = ["${daemon.directory}/mcp"]`, `write = ["${project}"]`, ...rule('deny')]);
  await daemon.start();
});
after(() => daemon.stop());

for (const sdk of sdks) {
  describe(sdk.name, () => {
    let client, call;
    before(async () => { ({ client, call } = await connect(sdk, daemon.throughCell('files'))); });
    after(() => client.close());

    test('a call without the argument is denied as one with the value that its schema names', async () => {
      for (const more of [{}, { sortBy: 'name' }]) {
        const result = await call('list_directory_with_sizes', { path: project, ...more });
        assert.equal(result.isError, true);
        assert.match(result.content[0].text, /rule\[\d\]/);
      }
    });

    test('a call with another value passes', async () => {
      const result = await call('list_directory_with_sizes', { path: project, sortBy: 'size' });
      assert.notEqual(result.isError, true);
      assert.match(result.content[0].text, /Total: /);
    });
  });
}
