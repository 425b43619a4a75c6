// OpenCode through `cellblock connect`. Needs tests/fixtures/hosts/install.sh; skipped without.

import { hostSuite } from './support/cases.mjs';

const ended = /^The model is done\.$/m;

hostSuite('opencode', {
  listed: { files: /✓ files .*\n.*/, broken: /✗ broken .*\n.*\n.*/ },
  runWithBroken: ended,
  refused: /✗ files_read_text_file .*/,
  userAsked: /his host has not declared elicitation/,
  limit: (entries) => entries.replace('"command"', '"timeout": 5000, "command"'),
  withoutDaemon: { listed: /MCP error -32603: /, run: ended },
});
