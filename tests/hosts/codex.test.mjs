// Codex through `cellblock connect`. Needs tests/fixtures/hosts/install.sh; skipped without.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

import { hostSuite } from './support/cases.mjs';

// It starts nothing where a required server fails: the broken one is not required.
const withBroken = (entries) => entries.replace(/(\[mcp_servers\.broken\]\ncommand = .*\n)required = true\n/, '$1');

hostSuite('codex', {
  withBroken,
  // The width of its columns is that of the longest path.
  listed: { files: /^files +cellblock(?= )/m, broken: /^broken +cellblock(?= )/m },
  runWithBroken: /^The model is done\.$/m,
  refused: /^mcp: files\/read_text_file \(failed\)$/m,
  userAsked: /and was denied/,
  limit: (entries) => entries.replace('args', 'tool_timeout_sec = 2\nargs'),
  withoutDaemon: { listed: /^files +cellblock(?= )/m, run: /required MCP servers failed to initialize: / },
  more({ rig, resultOf, configured, shown, causeOfBroken }) {
    test('starts no task without a server that it requires, and says why that has failed', async () => {
      await configured(['files', 'broken'], (entries) => entries, async () => {
        const output = await rig.run([]);
        assert.notEqual(output.code, 0);
        shown(output, /required MCP servers failed to initialize: /);
        assert.match(output.err, causeOfBroken);
      });
    });

    test('makes no call that its user has to approve, where its own approvals are bypassed and it says yes for him', async () => {
      const made = path.join(rig.project, 'bypassed');
      const { run } = rig.host;
      rig.host.run = (prompt) => ['exec', '--dangerously-bypass-approvals-and-sandbox', ...run(prompt).slice(1)];
      try {
        await resultOf({ server: 'files', tool: 'create_directory', args: { path: made } });
        assert.ok(!fs.existsSync(made));
      } finally {
        rig.host.run = run;
      }
    });
  },
});
