// Gemini CLI through `cellblock connect`. Needs tests/fixtures/hosts/install.sh; skipped without.

import { hostSuite } from './support/cases.mjs';

const issues = /^MCP issues detected\. Run \/mcp list for status\.$/m;

hostSuite('gemini', {
  listed: { files: /^✓ files: .*/m, broken: /^✗ broken: .*/m },
  runWithBroken: issues,
  refused: /^Error executing tool .*/m,
  userAsked: /his host has not declared elicitation/,
  limit: (entries) => entries.replace('"args"', '"timeout": 5000, "args"'),
  withoutDaemon: { listed: /(?<=✗ files: .*)- Disconnected$/m, run: issues },
});
