// The SDK's Transport over cellblock's socket.

import { setTimeout as sleep } from 'node:timers/promises';

import { answerToQuestion, asked, callInQuestion, deniedByHost } from './approval.js';
import { Connection } from './connection.js';
import { CellblockError, errorOfAnswer, failedAnswer, mayPass } from './error.js';
import { ownerOf } from './lines.js';
import { checkedOptions } from './options.js';
import { Permission, callOf, needsPermission } from './permission.js';

const internalError = -32603;
const keyOf = (id) => JSON.stringify(id);
const line = (message) => JSON.stringify({ jsonrpc: '2.0', ...message });

export class CellblockTransport {
  onclose;
  onerror;
  onmessage;
  session; // not "sessionId": by that the SDK tells a session that was greeted before

  #options;
  #permission;
  #onApproval;
  #onReconnected;
  #state = 'new'; // open, reconnecting, closed
  #connection;
  #reopened; // while reconnecting: a promise that it is over, well or not
  #why; // what ended it
  #stop = new AbortController();
  #calls = new Map(); // the SDK's requests by id: { method, isSent, over: AbortController }
  #questions = new Map(); // requests of the server's by keyOf(id): AbortController of those a person looks at, or undefined
  #own = new Map(); // of this transport's own requests: { resolve, reject }
  #nextOwn = 1;
  #hello; // the SDK's initialize: { params, version }, as it was answered
  #isInitialized = false;
  #canBeAsked = true; // the SDK declared elicitation itself

  constructor(options = {}) {
    this.#options = checkedOptions(options);
    this.#permission = new Permission(options.permission, options.onPermission);
    this.#onApproval = options.onApproval;
    this.#onReconnected = options.onReconnected;
  }

  async start() {
    if (this.#state !== 'new') throw new CellblockError('invalid_argument', 'the transport was started before');
    this.#state = 'open';
    try {
      await this.#open();
    } catch (error) {
      this.#finish(error);
      throw error;
    }
  }

  async send(message) {
    if (this.#state === 'new' || this.#state === 'closed') throw this.#gone();
    if (message.method === undefined) return this.#answer(message);
    return message.id === undefined ? this.#notify(message) : this.#request(message);
  }

  async close() {
    this.#finish();
  }

  setProtocolVersion() {}

  // --- what the SDK says

  async #request(message) {
    const { id, method } = message;
    const text = this.#bounded(method === 'initialize' ? this.#greeting(message) : message);
    if (this.#calls.has(id)) throw new CellblockError('invalid_argument', `a request ${keyOf(id)} is open already`);
    if (this.#calls.size >= this.#options.limits.callsInFlight) {
      throw new CellblockError('too_many', `${this.#calls.size} calls are in flight already`);
    }
    const call = { method, isSent: false, over: new AbortController() };
    this.#calls.set(id, call);
    try {
      await this.#permit(method, text, call.over.signal);
      await this.#ready();
      if (call.over.signal.aborted) return; // cancelled meanwhile: it is not told
      this.#connection.send(text);
      call.isSent = true;
    } catch (error) {
      if (this.#calls.get(id) === call) this.#calls.delete(id);
      throw error;
    }
  }

  async #permit(method, text, signal) {
    if (this.#permission.isOpen || !needsPermission(method)) return;
    const call = callOf(this.#options.server, text);
    const { verdict, reason } = await this.#permission.judge(call);
    if (verdict === 'deny') throw deniedByHost('the host', reason);
    if (verdict === 'allow') return;
    if (!this.#onApproval) throw deniedByHost('the host, where nobody can be asked,', reason);
    const said = await asked(this.#onApproval, { ...call, reason }, this.#options.approvalTimeoutMs, signal);
    if (said.verdict !== 'allow' && !signal.aborted) throw deniedByHost('whoever was asked', said.reason);
  }

  // Declares that its user can be asked for approvals.
  #greeting(message) {
    const { capabilities = {} } = message.params ?? {};
    this.#canBeAsked = capabilities.elicitation !== undefined;
    const more = this.#onApproval && !this.#canBeAsked ? { elicitation: {} } : {};
    const params = { ...message.params, capabilities: { ...capabilities, ...more } };
    this.#hello = { params };
    return { ...message, params };
  }

  async #notify(message) {
    if (message.method === 'notifications/cancelled' && this.#isUnsent(message.params?.requestId)) return;
    const text = this.#bounded(message);
    await this.#ready();
    this.#connection.send(text);
    if (message.method === 'notifications/initialized') this.#isInitialized = true;
  }

  // Ends a call; whether the server has heard nothing of it.
  #isUnsent(id) {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    call?.over.abort();
    return call !== undefined && !call.isSent;
  }

  // To a question of a connection that has ended nobody waits for an answer.
  async #answer(message) {
    if (!this.#questions.delete(keyOf(message.id))) return;
    this.#reply(message);
  }

  #reply(message) {
    try {
      this.#connection.send(this.#bounded(message));
    } catch (error) {
      if (error.code !== 'too_large') throw error;
      this.#connection.send(line({ id: message.id, error: { code: internalError, message: error.message } }));
    }
  }

  #bounded(message) {
    const text = JSON.stringify(message);
    const size = Buffer.byteLength(text);
    const most = this.#options.limits.outgoingLine;
    if (size <= most) return text;
    throw new CellblockError('too_large', `the message has ${size} bytes, ${most} are allowed`);
  }

  async #ready() {
    if (this.#reopened) await this.#reopened;
    if (this.#state !== 'open') throw this.#gone();
  }

  #gone() {
    return this.#why ?? new CellblockError('disconnected', 'the transport is closed');
  }

  // --- what the daemon says

  #hear(text) {
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      // as below
    }
    if (text.trim() === '') return undefined;
    if (typeof message !== 'object' || message === null || message.jsonrpc !== '2.0') {
      return this.#connection.end(new CellblockError('protocol', 'the daemon sent a line that is not a JSON-RPC message'));
    }
    if (message.method === undefined) return this.#hearAnswer(message);
    return message.id === undefined ? this.#hearNotice(message) : this.#hearQuestion(message);
  }

  #hearAnswer(message) {
    const { id } = message;
    // A line of ours that the daemon could not read: which call it was nobody knows.
    if (id === undefined || id === null) return this.#failUnnamed(errorOfAnswer(message.error));
    const own = this.#own.get(id);
    if (own) return message.error ? own.reject(errorOfAnswer(message.error)) : own.resolve(message.result);
    const call = this.#calls.get(id);
    if (!call?.isSent) return undefined; // given up
    this.#calls.delete(id);
    if (call.method === 'initialize' && message.result) this.#hello.version = message.result.protocolVersion;
    return this.#deliver(message);
  }

  #hearNotice(message) {
    if (message.method === 'notifications/cancelled') {
      const key = keyOf(message.params?.requestId);
      this.#questions.get(key)?.abort();
      this.#questions.delete(key);
    }
    this.#deliver(message);
  }

  #hearQuestion(message) {
    const key = keyOf(message.id);
    if (this.#questions.has(key) || this.#questions.size >= this.#options.limits.callsInFlight) {
      const text = 'the host has a question of this id, or too many of them, open already';
      return this.#say(line({ id: message.id, error: { code: internalError, message: text } }));
    }
    const call = this.#onApproval && callInQuestion(message);
    if (call) return this.#askUser(message.id, call);
    // The transport declared elicitation for approvals only.
    if (message.method === 'elicitation/create' && !this.#canBeAsked) {
      return this.#say(line({ id: message.id, result: { action: 'cancel' } }));
    }
    this.#questions.set(key, undefined);
    return this.#deliver(message);
  }

  async #askUser(id, call) {
    const over = new AbortController();
    const connection = this.#connection;
    this.#questions.set(keyOf(id), over);
    const said = await asked(this.#onApproval, call, this.#options.approvalTimeoutMs, over.signal);
    if (connection !== this.#connection || this.#questions.get(keyOf(id)) !== over) return;
    this.#questions.delete(keyOf(id));
    this.#say(line({ id, result: answerToQuestion(said) })); // the gateway takes silence for a no
  }

  // What nobody waits for here.
  #say(text) {
    try {
      this.#connection.send(text);
    } catch (error) {
      this.#report(error);
    }
  }

  // Whether it is known whose the line is: a call fails by it, and a question is answered that it does.
  #hearLong(long) {
    const owner = ownerOf(long);
    const why = new CellblockError('too_large', `the message has more than ${this.#options.limits.incomingLine} bytes`);
    if (owner?.isQuestion) {
      if (owner.id !== undefined) {
        this.#say(line({ id: owner.id, error: { code: internalError, message: why.message } }));
      }
      return true;
    }
    const own = owner && this.#own.get(owner.id);
    if (own) own.reject(why);
    else if (owner && this.#calls.get(owner.id)?.isSent) this.#fail(owner.id, why);
    return owner !== undefined;
  }

  #deliver(message) {
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.#report(error);
    }
  }

  #report(error) {
    try {
      this.onerror?.(error);
    } catch {
      // a host whose own report fails is past help
    }
  }

  #fail(id, error) {
    this.#calls.delete(id);
    this.#deliver(failedAnswer(id, error));
  }

  #failUnnamed(error) {
    if (this.#calls.size === 0) this.#why = error; // the daemon turns a connection away, and says why
    for (const { reject } of this.#own.values()) reject(error);
    for (const [id, { isSent }] of [...this.#calls]) if (isSent) this.#fail(id, error);
  }

  // --- the connection

  async #open() {
    this.#why = undefined;
    const connection = await Connection.open(this.#options.socket, this.#options.limits, {
      line: (text) => this.#hear(text),
      longLine: (long) => this.#hearLong(long),
      ended: (error) => this.#lost(this.#why ?? error),
    });
    if (this.#state === 'closed') {
      connection.close();
      throw this.#gone();
    }
    this.#connection = connection;
    const attached = await this.#ask('cellblock/attach', this.#options.attach);
    this.session = attached?.session;
    if (this.#hello?.version) await this.#greetAgain();
    if (connection.isOver) throw new CellblockError('disconnected', 'the daemon closed the connection');
  }

  // As the SDK did before; it hears nothing of it.
  async #greetAgain() {
    const answer = await this.#ask('initialize', this.#hello.params);
    if (answer?.protocolVersion !== this.#hello.version) {
      throw new CellblockError('protocol', `the server speaks ${answer?.protocolVersion} now, and spoke ${this.#hello.version} before`);
    }
    if (this.#isInitialized) this.#say(line({ method: 'notifications/initialized' }));
  }

  async #ask(method, params) {
    const id = `cellblock-${this.#nextOwn++}`;
    let timer;
    try {
      return await new Promise((resolve, reject) => {
        this.#own.set(id, { resolve, reject });
        timer = setTimeout(() => reject(new CellblockError('timed_out', `no answer to ${method} before the deadline`)),
                           this.#options.attachTimeoutMs);
        this.#connection.send(line({ id, method, params }));
      });
    } finally {
      clearTimeout(timer);
      this.#own.delete(id);
    }
  }

  // What was sent fails, and is not sent again: only the host knows what may be done twice. What was not is sent later.
  #lost(error) {
    for (const { reject } of this.#own.values()) reject(error);
    this.#takeQuestionsBack();
    const wasOpen = this.#state === 'open' && this.session !== undefined;
    if (wasOpen && this.#options.reconnect) {
      this.#state = 'reconnecting';
      this.#reopened = this.#reopen();
    }
    for (const [id, { isSent }] of [...this.#calls]) if (isSent) this.#fail(id, error);
    if (wasOpen && !this.#options.reconnect) this.#finish(error);
  }

  // Never rejects: who waits for it looks at the state.
  async #reopen() {
    const { attempts, firstWaitMs, longestWaitMs } = this.#options.reconnect;
    let wait = Math.min(firstWaitMs, longestWaitMs);
    for (let attempt = 1; this.#state !== 'closed'; ++attempt) {
      try {
        await this.#open();
        break;
      } catch (error) {
        this.#connection?.close();
        if (!mayPass(error) || attempt >= attempts) return this.#finish(error);
        // Of each wait up to half is left to chance, so that many hosts do not come back together.
        await sleep(wait - Math.random() * wait / 2, undefined, { signal: this.#stop.signal }).catch(() => {});
        wait = Math.min(wait * 2, longestWaitMs);
      }
    }
    if (this.#state === 'closed') return undefined;
    this.#state = 'open';
    this.#reopened = undefined;
    try {
      this.#onReconnected?.();
    } catch (error) {
      this.#report(error);
    }
    return undefined;
  }

  #takeQuestionsBack() {
    for (const over of this.#questions.values()) over?.abort();
    this.#questions.clear();
  }

  #finish(error) {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#why = error;
    this.#stop.abort();
    this.#connection?.close();
    const why = this.#gone();
    for (const { reject } of this.#own.values()) reject(why);
    for (const { over } of this.#calls.values()) over.abort();
    this.#calls.clear();
    this.#takeQuestionsBack();
    if (error) this.#report(error);
    this.onclose?.();
  }
}
