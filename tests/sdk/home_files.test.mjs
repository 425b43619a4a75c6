// `home_files`: a file of the host is where a server looks for it below its home, and stays what it is.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { Daemon } from './support/daemon.mjs';

const daemon = new Daemon();
const keys = path.join(daemon.directory, 'keys.json');
const seen = '/home/mcp/.gmail-mcp/keys.json';

before(async () => {
  const lines = [`home_files = { ".gmail-mcp/keys.json" = "${keys}" }`];
  fs.writeFileSync(keys, '{ "installed": {} }', { mode: 0o644 });
  fs.writeFileSync(path.join(daemon.directory, 'neighbour.json'), 'not for the cell');
  const server = '@modelcontextprotocol/server-filesystem';
  daemon.declare('kept', server, ['/home/mcp'], lines);
  daemon.declare('short', server, ['/home/mcp'], [...lines, 'home = "temporary"']);
  await daemon.start();
});
after(() => daemon.stop());

for (const sdk of sdks) {
  for (const server of ['kept', 'short']) {
    describe(`${sdk.name}, ${server} home`, () => {
      let client, call;
      const textOf = async (...args) => (await call(...args)).content[0].text;
      before(async () => { ({ client, call } = await connect(sdk, daemon.throughCell(server))); });
      after(() => client.close());

      test('has the file with nothing of the host beside it', async () => {
        assert.equal(await textOf('read_text_file', { path: seen }), '{ "installed": {} }');
        assert.equal(await textOf('list_directory', { path: path.dirname(seen) }), '[FILE] keys.json');
      });

      test('lets the server change everything but that file', async () => {
        assert.match(await textOf('write_file', { path: seen, content: 'other' }), /EROFS|EBUSY/);
        assert.match(await textOf('move_file', { source: seen, destination: `${seen}.old` }), /EBUSY|EROFS/);
        assert.equal(fs.readFileSync(keys, 'utf8'), '{ "installed": {} }');
        assert.match(await textOf('write_file', { path: `/home/mcp/state-${server}`, content: 'mine' }), /Successfully/);
      });
    });
  }
}
