// What a host reads where a server's call fails for want of a network: in errors, and in what some
// servers report as a success.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { connect, sdks } from './support/clients.mjs';
import { Daemon } from './support/daemon.mjs';

const daemon = new Daemon();

before(async () => {
  daemon.declareFixture('fetch', 'fetch_server.mjs');
  await daemon.start();
});
after(() => daemon.stop());

for (const sdk of sdks) {
  describe(sdk.name, () => {
    let client, call;
    before(async () => { ({ client, call } = await connect(sdk, daemon.throughCell('fetch'))); });
    after(() => client.close());

    for (const tool of ['fetch', 'fetch_quietly']) {
      test(`${tool} of a name says that there is no network, and what would allow the name`, async () => {
        const { content, isError } = await call(tool, { url: 'https://files.example.org/' });
        assert.equal(isError, tool === 'fetch' ? true : undefined);
        assert.match(content[0].text, /ENOTFOUND/);
        assert.match(content.at(-1).text, /^cellblock: the cell of server fetch has no network .*files\.example\.org:443/);
      });
    }

    test('a success that only has such words stays as it is', async () => {
      const { content } = await call('fetch_quietly', { url: 'data:text/plain,fetch%20failed' });
      assert.deepEqual(content, [{ type: 'text', text: '200: fetch failed' }]);
    });
  });
}
