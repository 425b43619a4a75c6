/**
 * A transport for the official MCP SDK's `Client` to servers of cellblock, over the daemon's socket. Plain
 * JavaScript, no dependency, no build step.
 *
 *     const transport = new CellblockTransport({ server: 'files' });
 *     const client = new Client({ name: 'my-host', version: '1.0.0' });
 *     await client.connect(transport);
 */

/** What went wrong: the names of libcellblock-client's `ErrorCode`. */
export type CellblockErrorCode =
  | 'invalid_argument' | 'unreachable' | 'no_access' | 'untrusted_listener' | 'disconnected' | 'protocol' | 'too_large'
  | 'too_many' | 'timed_out' | 'denied_by_host' | 'refused' | 'approval_required' | 'server_failed' | 'handshake_timeout'
  | 'unavailable' | 'rpc';

/**
 * Thrown by the constructor (`invalid_argument`), by `start()`, and by `send()` where nothing was sent, as for a call
 * that was denied: the SDK's `Client` rejects with it. What fails after it was sent is a JSON-RPC error, with the code
 * in `error.data.code`.
 */
export class CellblockError extends Error {
  readonly code: CellblockErrorCode;
  /** JSON-RPC `error.code`, or 0. */
  readonly rpcCode: number;
  /** JSON-RPC `error.data`. */
  readonly data?: unknown;
  /** cellblock's own stable code (`quarantined`), or empty. */
  readonly failure: string;
  /** What to do about it, or empty. */
  readonly advice: string;
}

/** Stricter ones count: `deny`, `ask`, `allow`. */
export type Verdict = 'allow' | 'ask' | 'deny';
export interface Decision {
  verdict: Verdict;
  /** Told to who made the call, and of an `ask` to `onApproval`. */
  reason?: string;
}

export type CallKind = 'tool' | 'resource' | 'prompt' | 'other';

/** A request that has not left yet. Its texts may come from a model or a server: escape them before they are shown. */
export interface CallToApprove {
  /** As it was attached; empty: all as one, where names are `SERVER__NAME`. */
  server: string;
  kind: CallKind;
  method: string;
  /** Of the tool or prompt, the URI of the resource, else the method. */
  name: string;
  /** Of a tool or prompt: JSON as it will be sent; else empty. */
  arguments: string;
  /** JSON as it will be sent. */
  params: string;
  /** To `onApproval`: why it is asked. */
  reason: string;
}

/** About requests of one kind. Rules that cannot match anything are refused by the constructor. */
export interface PermissionRule {
  server?: string;
  /** `tool`, if not said. */
  kind?: CallKind;
  /** Exact, or a beginning and `*`; `*`, if not said. A URI stands in its plain spelling. */
  name?: string;
  /** `ask`, if not said. */
  verdict?: Verdict;
  reason?: string;
}

export interface CellblockTransportOptions {
  /** Empty: all that this user may use, as one. */
  server?: string;
  /** The daemon's socket; `defaultSocketPath()`, if not said. */
  socket?: string;
  /** To be narrowed to. */
  role?: string;
  /** Whom the session works for, for the audit log. */
  labels?: Record<string, string>;
  /** Which tools are listed; as it is configured, if not said. */
  tools?: 'all' | 'search';
  /** The server starts with the first message that needs it. */
  onDemand?: boolean;
  /** Until the server runs, and of each attempt to come back. 60 s. */
  attachTimeoutMs?: number;
  permission?: {
    /** In any order: the strictest that applies decides. */
    rules?: PermissionRule[];
    /** Where none does; `allow`, if not said. */
    otherwise?: Verdict;
  };
  /** Asked about each request that a server acts upon, behind the rules. What it throws denies. */
  onPermission?: (call: CallToApprove) => Verdict | Decision | Promise<Verdict | Decision>;
  /**
   * Asks a person: where rules or `onPermission` say `ask`, and where a rule of the administrator's wants the user's
   * word. None: what would be asked is denied. Only `allow` allows. The SDK's own timeout of a request goes on
   * meanwhile: give such calls a longer one. `signal` is aborted when nobody waits for the answer any more.
   */
  onApproval?: (call: CallToApprove, options: { signal: AbortSignal }) =>
    Verdict | Decision | Promise<Verdict | Decision>;
  /** How long a person may think; then it is denied. 120 s. */
  approvalTimeoutMs?: number;
  /**
   * After a lost connection: how often and how patiently it comes back; `false`: the transport closes instead. What was
   * in flight has failed, and is not repeated; requests that are made meanwhile wait.
   */
  reconnect?: boolean | { attempts?: number; firstWaitMs?: number; longestWaitMs?: number };
  /** The server is another process now: subscriptions and what else it knew have to be made anew. */
  onReconnected?: () => void;
  /** In bytes, and requests. */
  limits?: { incomingLine?: number; outgoingLine?: number; outgoingQueue?: number; callsInFlight?: number };
}


/** The SDK's `Transport`. */
export class CellblockTransport {
  constructor(options?: CellblockTransportOptions);
  /** cellblock's number of the session; another one after reconnecting. */
  session?: string;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  onmessage?: (message: any, extra?: any) => void;
  /** Connects, after it has looked at who could have put the socket there, and attaches. */
  start(): Promise<void>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  send(message: any, options?: unknown): Promise<void>;
  close(): Promise<void>;
  setProtocolVersion(version: string): void;
}

/** `CELLBLOCK_SOCKET`, the user's own daemon if it is there, `/run/cellblock/cellblock.sock`. */
export function defaultSocketPath(env?: Record<string, string | undefined>): string;
