// Failures, by the names that libcellblock-client has for them.

export class CellblockError extends Error {
  constructor(code, text, { rpcCode = 0, data, failure = '', advice = '' } = {}) {
    super(text);
    this.name = 'CellblockError';
    this.code = code;
    this.rpcCode = rpcCode;
    this.data = data;
    this.failure = failure;
    this.advice = advice;
  }
}

// cellblock's own failures (docs/errors.md), and what kind of error each is to a host.
const failures = new Map([
  [-31001, ['not_allowlisted', 'refused']],
  [-31002, ['not_attached', 'refused']],
  [-31003, ['server_failed', 'server_failed']],
  [-31004, ['handshake_timeout', 'handshake_timeout']],
  [-31005, ['too_large', 'too_large']],
  [-31006, ['too_many', 'too_many']],
  [-31007, ['audit_unavailable', 'unavailable']],
  [-31008, ['disabled', 'refused']],
  [-31009, ['invalid_request', 'refused']],
  [-31010, ['shutting_down', 'unavailable']],
  [-31011, ['bad_answer', 'server_failed']],
  [-31012, ['workspace_refused', 'refused']],
  [-31013, ['identity_not_mapped', 'refused']],
  [-31014, ['denied', 'refused']],
  [-31015, ['approval_required', 'approval_required']],
  [-31016, ['invalid_arguments', 'refused']],
  [-31017, ['timeout', 'timed_out']],
  [-31018, ['rate_limited', 'too_many']],
  [-31019, ['quarantined', 'refused']],
  [-31020, ['blocked', 'refused']],
]);

export function errorOfAnswer({ code = 0, message = 'the server gave no reason', data } = {}) {
  const [failure, kind] = failures.get(code) ?? ['', 'rpc'];
  const advice = failure && typeof data?.advice === 'string' ? data.advice : '';
  return new CellblockError(kind, String(message), { rpcCode: code, data, failure, advice });
}

// What may go well later, with nobody having done anything about it.
const passing = new Set(['unreachable', 'disconnected', 'too_many', 'unavailable', 'timed_out']);
export const mayPass = (error) => passing.has(error?.code);

const connectionClosed = -32000; // as the SDK has it

// The answer that a call gets which has failed with its connection, or by its answer's size.
export function failedAnswer(id, error) {
  const { code, message, rpcCode } = error;
  return { jsonrpc: '2.0', id, error: { code: rpcCode || connectionClosed, message, data: { code } } };
}
