// Claude Code through `cellblock connect`. Needs tests/fixtures/hosts/install.sh; skipped without.

import { hostSuite } from './support/cases.mjs';

const ended = /^The model is done\.$/m;

hostSuite('claude-code', {
  listed: {
    files: /^files: .*/m,
    broken: /^broken: .* - ✘ Failed to connect — -31003: cell .*/m,
  },
  runWithBroken: ended,
  refused: ended,
  userAsked: /and was denied/,
  limit: (entries) => entries.replace('"args"', '"timeout": 2000, "args"'),
  withoutDaemon: { listed: /✘ Failed to connect/, run: ended },
});
