// What the host lets its model do, decided before anything leaves: its rules, then its own function. The
// strictest counts. Pure.

import { CellblockError } from './error.js';

const strictness = ['allow', 'ask', 'deny'];
const kinds = ['tool', 'resource', 'prompt', 'other'];
const printable = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u;

const kindsOfMethods = new Map([['tools/call', 'tool'], ['prompts/get', 'prompt'], ['resources/read', 'resource'],
                                ['resources/subscribe', 'resource']]);
const kindOf = (method) => kindsOfMethods.get(method) ?? 'other';

const untouched = new Set(['initialize', 'ping', 'server/discover', 'logging/setLevel']);

// Whether a server acts upon it; not for the handshake, lists and cellblock's own.
export const needsPermission = (method) =>
  !method.startsWith('cellblock/') && !untouched.has(method) && !method.endsWith('/list');

// One spelling alone: lower case in front, no escapes, no empty, `.` or `..` segments.
export function isPlainUri(uri) {
  if (typeof uri !== 'string' || !printable.test(uri) || /[%\\]/.test(uri)) return false;
  const parts = /^[a-z][a-z0-9+.-]*:(?:\/\/([a-z0-9._:-]*)(?=[/?#]|$))?(.*)$/u.exec(uri);
  if (!parts) return false;
  const path = parts[2].split(/[?#]/, 1)[0];
  const segments = path.split('/');
  return segments.every((segment, index) => {
    const isEdge = index === 0 || index === segments.length - 1;
    return (segment !== '' || isEdge) && !/^\.{1,2}(?:;|$)/.test(segment);
  });
}

function wrong(text) {
  return new CellblockError('invalid_argument', text);
}

function checkName(kind, name) {
  const exact = name.endsWith('*') ? name.slice(0, -1) : name;
  if (name === '' || exact.includes('*') || !printable.test(exact)) return 'a name is exact, or a beginning and *';
  if (kind === 'tool' && !/^[A-Za-z0-9_./-]{0,128}$/.test(exact)) {
    return 'allowed: at most 128 of A-Z a-z 0-9 _ . / -, with or without one * at the end';
  }
  if (kind === 'resource' && exact !== '' && !isPlainUri(exact)) {
    return 'allowed: a URI in its plain spelling (lower case in front, no %, no ..), with or without one * at the end';
  }
  if (kind === 'other' && !name.endsWith('*') && (kindOf(name) !== 'other' || !needsPermission(name))) {
    return 'that method is decided by rules of another kind, or asks no rule';
  }
  return exact.length > (kind === 'resource' ? 2048 : 128) ? 'it is too long' : '';
}

function checkRule({ server = '', kind = 'tool', name = '*', verdict = 'ask' }) {
  if (!strictness.includes(verdict)) return 'its verdict is none of allow, ask, deny';
  if (!kinds.includes(kind)) return 'its kind is none of tool, resource, prompt, other';
  if (server !== '' && !/^[a-z][a-z0-9-]{0,62}$/.test(server)) return `${JSON.stringify(server)} is no server name`;
  if (typeof name !== 'string') return 'its name is no text';
  const reason = checkName(kind, name);
  return reason && `${JSON.stringify(name)}: ${reason}`;
}

// A rule that no request can match would let pass what it was written to deny.
export function checkRules(permission = {}) {
  const { rules = [], otherwise = 'allow' } = permission;
  if (!strictness.includes(otherwise)) throw wrong('permission.otherwise is none of allow, ask, deny');
  rules.forEach((rule, index) => {
    const unknown = Object.keys(rule).find((key) => !['server', 'kind', 'name', 'verdict', 'reason'].includes(key));
    const reason = unknown ? `it has no member ${unknown}` : checkRule(rule);
    if (reason) throw wrong(`permission.rules[${index}]: ${reason}`);
  });
  return { rules, otherwise };
}

function matches({ server = '', kind = 'tool', name = '*', verdict = 'ask' }, call) {
  if (kind !== call.kind || (server !== '' && server !== call.server)) return false;
  if (name.endsWith('*')) return call.name.startsWith(name.slice(0, -1));
  if (call.name === name) return true;
  // What takes a resource takes it with a query, a fragment or a slash at its end as well.
  return kind === 'resource' && verdict !== 'allow' && call.name.startsWith(name)
    && /^(?:\/$|[?#])/.test(call.name.slice(name.length));
}

function nameOf(method, params) {
  const kind = kindOf(method);
  if (kind === 'other') return method;
  const name = kind === 'resource' ? params?.uri : params?.name;
  if (typeof name !== 'string') throw wrong(`a request ${method} names a ${kind}`);
  return name;
}

// A request that has not left yet. `line` is what will be sent, of which the texts are made.
export function callOf(server, line) {
  const { method, params = {} } = JSON.parse(line);
  const hasArguments = method === 'tools/call' || method === 'prompts/get';
  return { server, kind: kindOf(method), method, name: nameOf(method, params),
           arguments: hasArguments && params.arguments !== undefined ? JSON.stringify(params.arguments) : '',
           params: JSON.stringify(params), reason: '' };
}

// What a host's function said, as a decision; what is none denies.
export function decisionOf(said, what) {
  const { verdict, reason = '' } = typeof said === 'string' ? { verdict: said } : said ?? {};
  return strictness.includes(verdict) ? { verdict, reason: String(reason) }
                                      : { verdict: 'deny', reason: `${what} gave no verdict` };
}

const stricter = (one, other) =>
  (strictness.indexOf(other.verdict) > strictness.indexOf(one.verdict) ? other : one);

export class Permission {
  #rules;
  #otherwise;
  #decide;

  constructor(permission, decide) {
    const { rules, otherwise } = checkRules(permission);
    this.#rules = rules.map((rule) => ({ ...rule })); // the host may go on with its own
    this.#otherwise = otherwise;
    this.#decide = decide;
  }

  get isOpen() {
    return this.#rules.length === 0 && this.#otherwise === 'allow' && !this.#decide;
  }

  #byRules(call) {
    const isStrict = this.#otherwise !== 'allow'
      || this.#rules.some(({ kind, verdict = 'ask' }) => kind === 'resource' && verdict !== 'allow');
    if (call.kind === 'resource' && isStrict && !isPlainUri(call.name)) {
      return { verdict: 'deny', reason: 'servers may read this URI in two ways' };
    }
    const found = this.#rules.filter((rule) => matches(rule, call))
      .map(({ verdict = 'ask', reason = '' }) => ({ verdict, reason }));
    return found.length === 0 ? { verdict: this.#otherwise, reason: '' } : found.reduce(stricter);
  }

  // { verdict, reason }. What the host's function throws denies.
  async judge(call) {
    const decision = this.#byRules(call);
    if (!this.#decide || decision.verdict === 'deny') return decision;
    try {
      return stricter(decision, decisionOf(await this.#decide(call), 'onPermission'));
    } catch (error) {
      return { verdict: 'deny', reason: `onPermission threw: ${error?.message ?? error}` };
    }
  }
}
