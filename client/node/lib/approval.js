// A person's word on a call: where the host's own rules ask for it, and where a rule of the administrator's
// asks the user through his host.

import { CellblockError } from './error.js';
import { decisionOf } from './permission.js';

export const questionBegins = 'cellblock: may this call be made? ';

const kinds = new Map([['tools/call', 'tool'], ['prompts/get', 'prompt'], ['resources/read', 'resource'],
                       ['resources/subscribe', 'resource']]);
const text = (value) => (typeof value === 'string' ? value : '');

// The gateway's own question: no server can write that beginning. undefined: it is another request.
export function callInQuestion({ method, params }) {
  const message = text(params?.message);
  if (method !== 'elicitation/create' || !message.startsWith(questionBegins)) return undefined;
  const about = params._meta?.['cellblock/approval'] ?? {};
  return { server: text(about.server), kind: kinds.get(about.method) ?? 'other', method: text(about.method),
           name: text(about.name), arguments: text(about.arguments), params: text(about.params), reason: message };
}

export const answerToQuestion = ({ verdict }) =>
  (verdict === 'allow' ? { action: 'accept', content: { allow: true } } : { action: 'decline' });

const denied = (reason) => ({ verdict: 'deny', reason });

// What `onApproval` says within that time; only `allow` allows. `signal` ends the wait, and so that of the host: its
// own is aborted with whatever ends it.
export async function asked(onApproval, call, timeoutMs, signal) {
  const own = new AbortController();
  let timer;
  const over = new Promise((resolve) => {
    timer = setTimeout(() => resolve(denied('nobody answered in time')), timeoutMs);
    signal.addEventListener('abort', () => resolve(denied('the call is over')), { once: true });
  });
  const said = Promise.resolve().then(() => onApproval(call, { signal: own.signal }))
    .then((word) => decisionOf(word, 'onApproval'), (error) => denied(`onApproval threw: ${error?.message ?? error}`));
  try {
    const decision = await (signal.aborted ? denied('the call is over') : Promise.race([said, over]));
    return decision.verdict === 'ask' ? denied('"ask" is no answer') : decision;
  } finally {
    clearTimeout(timer);
    own.abort();
  }
}

export function deniedByHost(who, reason) {
  return new CellblockError('denied_by_host', `${who} denied this call${reason ? `: ${reason}` : ''}`);
}
