// The official conformance suites pass: against the fixture alone, which proves the fixture, and against
// the fixture in a cell, which measures cellblock. The argument, if any, is the only target's name.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { run, suites } from './suites.mjs';
import { targets } from './targets.mjs';

const shortfall = ({ causes }) => `\n  ${causes.join('\n  ')}`;

function checkAll(target) {
  describe(target.name, { concurrency: true }, () => {
    let url;
    before(async () => { url = await target.start(); });
    after(() => target.stop());
    for (const suite of suites) {
      test(`passes ${suite.name}: ${suite.scenarios} scenarios`, async (context) => {
        const result = await run(suite, url);
        const count = `${result.passed.length} passed, ${result.failed.length} failed`;
        context.diagnostic(`${target.name} | ${suite.name} | ${count}`);
        assert.deepEqual(result.failed, [], shortfall(result));
        assert.equal(result.passed.length, suite.scenarios, shortfall(result));
      });
    }
  });
}

// Suites wait more than they compute, so all of them run at once.
const only = process.argv[2];
describe('conformance', { concurrency: true }, () => {
  for (const target of targets.filter(({ name }) => only === undefined || name === only)) checkAll(target);
});
