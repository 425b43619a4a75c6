// What each host has to do with cellblock. `expected` says what differs between hosts: the texts that its user sees.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { hosts } from './hosts.mjs';
import { assertEntries, assertShown, assertVersion } from './page.mjs';
import { eventually, mode, Rig, whyNot } from './rig.mjs';

const causeOfBroken = /exited with code 1 before it answered; last words: .*Cannot find module/;

export function hostSuite(name, expected) {
  const host = hosts[name];
  const skip = whyNot(host);
  if (skip) {
    test(`${host.title}, ${mode}`, { skip }, () => {});
    return;
  }
  describe(`${host.title}, ${mode}`, () => {
    const rig = new Rig(name, expected.withBroken);
    const notes = { server: 'files', tool: 'read_text_file', args: { path: path.join(rig.project, 'notes.txt') } };
    const written = path.join(rig.project, 'new.txt');
    const writing = (content) => ({ server: 'files', tool: 'write_file', args: { path: written, content } });
    const textOfWritten = () => fs.readFileSync(written, { encoding: 'utf8', flag: 'a+' });
    const shown = ({ out, err }, pattern) => assertShown(`${out}${err}`, pattern, rig.daemon.directory);

    before(() => rig.start());
    after(() => rig.stop());

    // Of its only call.
    async function resultOf(call) {
      const { results, ...output } = await rig.run([call]);
      assert.equal(results.length, 1, `${output.out}${output.err}`);
      return { output, result: results[0] };
    }

    // The host with other entries, for one use.
    async function configured(servers, change, use) {
      try {
        await rig.configure(servers, change);
        await use();
      } finally {
        await rig.configure(rig.servers, rig.change);
      }
    }

    test('is configured as docs/hosts.md says', async () => {
      assertEntries(host.language, await rig.entries(['files', 'memory']), rig.daemon.directory);
    });

    test('has the version and speaks the revision of MCP that docs/hosts.md says', async () => {
      const lines = await rig.recorded(() => rig.run([notes]));
      const [, revision] = /protocolVersion": ?"([\d-]+)"/.exec(lines) ?? assert.fail(lines);
      const [version] = /\d+\.\d+\.\d+/.exec((await rig.asUser([...host.program, '--version'])).out);
      assertVersion(host.title, version, revision);
    });

    test('lists its servers, and the one whose program is missing', async () => {
      const list = await rig.list();
      for (const server of ['files', 'broken']) shown(list, expected.listed[server]);
    });

    test('calls tools of two servers in one task', async () => {
      const entity = { name: 'plants', entityType: 'task', observations: ['are dry'] };
      const { results, ...output } = await rig.run([notes, { server: 'memory', tool: 'create_entities', args: { entities: [entity] } }]);
      assert.equal(results.length, 2, `${output.out}${output.err}`);
      assert.match(results[0], /Water the plants\./);
      assert.match(results[1], /are dry/);
    });

    test('does its task with the other servers when one has failed to start, and does not say why it has', async () => {
      const { result, output } = await resultOf(notes);
      assert.match(result, /Water the plants\./);
      shown(output, expected.runWithBroken);
      assert.doesNotMatch(`${output.out}${output.err}`, causeOfBroken);
    });

    test('offers its model no tool that a rule denies', async () => {
      const move = { server: 'files', tool: 'move_file', args: { source: notes.args.path, destination: written } };
      const { offered, results } = await rig.run([notes, move]);
      assert.ok(offered.includes(rig.tool('files', 'read_text_file')), `${offered}`);
      assert.ok(!offered.includes(rig.tool('files', 'move_file')), `${offered}`);
      assert.equal(results.length, 1);
    });

    test('hands its model the sentence of a call that a rule refuses for its arguments', async () => {
      const { result, output } = await resultOf({ ...notes, args: { path: path.join(rig.project, 'private.txt') } });
      assert.match(result, /denies it/);
      assert.match(result, /ask an administrator/);
      assert.doesNotMatch(result, /A secret/);
      shown(output, expected.refused);
    });

    test('hands its model why a server reaches no network, and what would allow it', async () => {
      const { result } = await resultOf({ server: 'pages', tool: 'read_page', args: { url: 'http://example.org/' } });
      assert.match(result, /the cell of server pages has no network/);
      assert.match(result, /egress\.allow = \["example\.org:443"\]/);
    });

    test('waits for a call that needs an approval, and gets its result', async () => {
      const [{ result }, answer] = await Promise.all([resultOf(writing('Watered.\n')), rig.decide('allow')]);
      assert.equal(answer.code, 0, answer.err);
      assert.match(result, /Successfully wrote/);
      assert.equal(textOfWritten(), 'Watered.\n');
    });

    test('hands its model that an approval was denied', async () => {
      const [{ result }] = await Promise.all([resultOf(writing('Denied.\n')), rig.decide('deny')]);
      assert.match(result, /this needs an approval \(.*\), and was denied/);
      assert.notEqual(textOfWritten(), 'Denied.\n');
    });

    test('does not make a call that its user has to approve, whom nobody can ask in such a task', async () => {
      const made = path.join(rig.project, 'made');
      const { result } = await resultOf({ server: 'files', tool: 'create_directory', args: { path: made } });
      assert.match(result, expected.userAsked);
      assert.ok(!fs.existsSync(made));
    });

    test('gives up a call that waits longer than its own limit, and the call is not made', async () => {
      await configured(['files'], expected.limit, async () => {
        const { result } = await resultOf(writing('Too late.\n'));
        assert.match(result, /timed out/);
        await eventually(async () => /no call waits/.test((await rig.asAdministrator('approve')).out), 'the end of the question');
      });
      assert.notEqual(textOfWritten(), 'Too late.\n');
    });

    const interruptions = [['a restart of cellblockd', () => rig.restartDaemon()], ['a crash of cellblockd', () => rig.daemon.crash('supervisor')],
                           ['a restart of the server', () => rig.cellblock('restart', 'files')]];
    for (const [what, before] of interruptions) {
      test(`goes on after ${what} between two calls`, async () => {
        const { results, ...output } = await rig.run([notes, { ...notes, before }]);
        assert.equal(results.length, 2, `${output.out}${output.err}`);
        for (const result of results) assert.match(result, /Water the plants\./);
      });
    }

    test('hands its model that cellblockd was stopped while a call waited, and the call is not made', async () => {
      const [{ result }] = await Promise.all([resultOf(writing('Stopped.\n')), rig.waitingCall().then(() => rig.restartDaemon())]);
      assert.match(result, /cellblock is shutting down/);
      assert.notEqual(textOfWritten(), 'Stopped.\n');
    });

    test('hands its model why cellblock was switched off between two calls', async () => {
      const { results } = await rig.run([notes, { ...notes, before: () => rig.asAdministrator('disable', '--reason', 'maintenance') }]);
      const { code } = await rig.asAdministrator('enable');
      assert.equal(code, 0);
      assert.match(results[1], /cellblock is switched off by its administrator \(cellblock disable\): maintenance/);
    });

    test('uses all servers as one', async () => {
      await configured(['files'], (entries) => entries.replace(/("connect"),\s*"files"/, '$1'), async () => {
        const { result } = await resultOf({ ...notes, tool: 'files__read_text_file' });
        assert.match(result, /Water the plants\./);
      });
    });

    test('shows that it has no server where cellblockd does not run', async () => {
      await rig.daemon.end();
      try {
        shown(await rig.list(), expected.withoutDaemon.listed);
        shown(await rig.run([notes]), expected.withoutDaemon.run);
      } finally {
        await rig.daemon.startAgain();
      }
    });

    expected.more?.({ rig, resultOf, configured, shown, causeOfBroken });
  });
}
