import * as fs from 'node:fs';
import * as path from 'node:path';

// Declares a mock server (tests/fixtures/mock_server.mjs) with those rules: what is done at a method, or at
// a call of a tool.
export function declareMock(daemon, name, rules, lines = []) {
  const script = path.join(daemon.directory, 'mcp', `${name}.jsonl`);
  // Else it is asked for its tools before the first call, and what it does not list is nothing.
  const pin = lines.some((line) => line.startsWith('pin ')) ? [] : ['pin = "off"'];
  daemon.declareFixture(name, 'mock_server.mjs', { args: [script], lines: [...lines, ...pin] });
  setRules(daemon, name, rules);
}

// For the cells that start from now on.
export function setRules(daemon, name, rules) {
  const text = Object.entries(rules).map(([on, actions]) => JSON.stringify({ on, do: actions })).join('\n');
  fs.writeFileSync(path.join(daemon.directory, 'mcp', `${name}.jsonl`), text);
}

export const said = (text) => ({ content: [{ type: 'text', text }] });
export const textOf = (answer) => answer.result?.content[0].text;
