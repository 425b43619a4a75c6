// The audit log: filtered, followed, and one call from its request to its end.

import { button, byId, doing, element, facts, fill, say, utc, visible } from './parts.mjs';
import { follow, read } from './server.mjs';

const rowsKept = 500;
const kinds = ['', 'call', 'call_ended', 'refused', 'approval', 'pin', 'attach', 'denied', 'egress', 'finding', 'flow', 'cell_started', 'cell_ended',
               'session_opened', 'session_closed', 'label', 'switched', 'log_opened', 'log_closed'];
const outcomes = ['', 'ok', 'error', 'denied', 'cancelled', 'none'];
const outcomeKinds = { ok: 'good', error: 'bad', denied: 'bad', cancelled: 'weak' };
const columns = ['Time', 'What', 'User', 'Server', 'Tool', 'Outcome', 'Why', ''];
let ends = new AbortController();
let isShown = false;
const names = new Map(); // of users, by uid

// Of the users that the page hears of.
export function learnNames(news) {
  names.set(news.uid, news.user);
  for (const { uid, user } of [...(news.status?.users?.map ? news.status.users : []), ...(news.approvals ?? [])]) names.set(uid, user);
}

const nameOf = (uid) => (names.get(uid) === `${uid}` ? undefined : names.get(uid));
const userText = (uid) => (nameOf(uid) ? `${nameOf(uid)} (${uid})` : uid ?? '');

// "allowed by uid 0", of which the page knows the name.
const reasonText = (reason) => String(reason ?? '').replace(/\buid (\d{1,10})\b/g, (uid, number) => (nameOf(Number(number)) ? `${nameOf(Number(number))} (${uid})` : uid));

const field = (title, control) => element('label', {}, title, control);
const choice = (name, values) => element('select', { name }, values.map((value) => element('option', { value }, value || 'any')));
const text = (name, placeholder = '', value = '') => element('input', { name, placeholder, value, type: 'text' });

export function makeFilter() {
  const form = byId('audit-filter');
  form.append(field('Server', text('server')), field('User', text('who')), field('Tool', text('tool')), field('Kind', choice('kind', kinds)),
    field('Outcome', choice('outcome', outcomes)), field('Session', text('session')), field('Since (UTC)', text('since', '2h, 2026-11-22', '24h')), field('Until (UTC)', text('until', '2026-11-22')),
    element('label', { class: 'tick' }, element('input', { name: 'follow', type: 'checkbox', checked: true }), 'Follow'), element('button', { type: 'submit' }, 'Search'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    search();
  });
  byId('verify').addEventListener('click', doing(verify));
}

async function verify() {
  const { json, why } = await read('/api/audit/verify');
  const state = byId('audit-state');
  if (!json || json.error) return fill(state, visible(why));
  const findings = (json.findings ?? []).map(({ grade, file, line, what }) => `${grade}: ${file}, line ${line}: ${what}`).join('; ');
  state.className = json.ok ? 'good' : 'bad';
  fill(state, visible(json.ok ? `The chain is whole: ${json.lines} lines, anchor ${json.anchor}.` : `BROKEN. ${findings}`));
}

function query() {
  const form = new FormData(byId('audit-filter'));
  return Object.fromEntries(['server', 'who', 'tool', 'kind', 'outcome', 'session', 'since', 'until'].map((name) => [name, `${form.get(name) ?? ''}`.trim()]));
}

const isFollowed = () => new FormData(byId('audit-filter')).has('follow');

function row(line) {
  const isCall = line.call > 0;
  return element('tr', {}, element('td', {}, visible(utc(line.time))), element('td', {}, visible(line.kind)), element('td', {}, visible(userText(line.uid))),
    element('td', {}, visible(line.server ?? '')), element('td', {}, visible(line.tool ?? '')),
    element('td', { class: outcomeKinds[line.outcome] ?? 'faint' }, visible(line.outcome === 'none' ? '' : line.outcome)), element('td', {}, visible(reasonText(line.reason))),
    element('td', {}, isCall && button('Call', doing(() => showCall(line)), '', `Call ${line.call} from request to result`)));
}

// From its request to its result; what is not said of it is left out.
async function showCall(line) {
  const { text: out, ok, why } = await read('/api/audit', { session: line.session, server: line.server, lines: 5000 });
  if (!ok) return say(why);
  const same = parsedLines(out).filter((one) => one.call === line.call && one.gateway === line.gateway && one.uid === line.uid);
  const known = ({ hash, boot, previous, ...rest }) => Object.entries(rest).filter(([, value]) => value !== 0 && value !== '');
  fill(byId('audit-call'), element('div', { class: 'card' }, element('div', { class: 'head' }, element('h3', { tabIndex: -1 }, visible(`Call ${line.call} of session ${line.session}`)),
    element('div', { class: 'actions' }, button('Close', () => fill(byId('audit-call'))))), same.map((one) => [element('h4', {}, visible(`${utc(one.time)} ${one.kind}`)), facts(known(one))])));
  byId('audit-call').querySelector('h3').focus();
}

const parsedLines = (out) => out.split('\n').flatMap((line) => {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
});

function begin() {
  ends.abort();
  ends = new AbortController();
  const body = element('tbody', {});
  fill(byId('audit-lines'), element('caption', { class: 'hidden' }, 'Records, the newest first'),
    element('thead', {}, element('tr', {}, columns.map((title) => element('th', { scope: 'col' }, title)))), body);
  fill(byId('audit-state'));
  return { body, signal: ends.signal };
}

async function search() {
  const { body, signal } = begin();
  const state = byId('audit-state');
  const add = (line) => {
    if (line.kind === undefined) return;
    body.prepend(row(line));
    if (body.childElementCount > rowsKept) body.lastElementChild.remove();
  };
  try {
    if (isFollowed()) {
      state.className = 'faint';
      fill(state, 'New records appear as they come.');
      await follow('/api/audit/follow', query(), (line) => {
        if (line.exit !== undefined) fill(state, visible(line.err));
        add(line);
      }, signal);
    } else {
      const { ok, text: out, why } = await read('/api/audit', query());
      parsedLines(out).forEach(add);
      fill(state, visible(ok ? `${body.childElementCount} records.` : why));
    }
  } catch (failure) {
    if (failure.name !== 'AbortError') fill(state, visible(failure.message));
  }
}

// It is followed only while it is looked at.
export function showAudit(isVisible) {
  if (isVisible === isShown) return;
  isShown = isVisible;
  if (isVisible) search();
  else ends.abort();
}
