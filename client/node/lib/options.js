// What a transport is made with, held to what it can mean.

import { CellblockError } from './error.js';
import { defaultSocketPath } from './socket_path.js';

const limits = { incomingLine: 10 << 20, outgoingLine: 8 << 20, outgoingQueue: 32 << 20, callsInFlight: 1024 };
const least = { incomingLine: 1024, outgoingLine: 1024, outgoingQueue: 1024, callsInFlight: 1 };
const reconnect = { attempts: 6, firstWaitMs: 100, longestWaitMs: 5000 };
const longestTimer = 0x7fffffff; // of setTimeout(), which takes more for 1 ms

const known = ['server', 'socket', 'role', 'labels', 'tools', 'onDemand', 'attachTimeoutMs', 'permission', 'onPermission',
               'onApproval', 'approvalTimeoutMs', 'reconnect', 'limits', 'onReconnected'];

function wrong(text) {
  return new CellblockError('invalid_argument', text);
}

function numbers(name, given, defaults, atLeast) {
  const made = { ...defaults, ...given };
  for (const [key, value] of Object.entries(made)) {
    if (!(key in defaults)) throw wrong(`${name} has no member ${key}`);
    const lowest = atLeast[key] ?? 0;
    if (!Number.isSafeInteger(value) || value < lowest) throw wrong(`${name}.${key} is ${value}; allowed: at least ${lowest}`);
  }
  return made;
}

function milliseconds(name, value) {
  if (Number.isInteger(value) && value >= 1 && value <= longestTimer) return value;
  throw wrong(`${name} is ${value}; allowed: 1 to ${longestTimer} ms`);
}

function checkFunctions(given) {
  for (const name of ['onPermission', 'onApproval', 'onReconnected']) {
    if (given[name] !== undefined && typeof given[name] !== 'function') throw wrong(`${name} is no function`);
  }
}

function attachParams({ server = '', role, labels, tools, onDemand }) {
  if (typeof server !== 'string') throw wrong('server is no text');
  if (tools !== undefined && !['all', 'search'].includes(tools)) throw wrong('tools is neither "all" nor "search"');
  return { ...(server && { server }), ...(onDemand && { start: 'on_demand' }), ...(tools && { tools }),
           ...(role && { role }), ...(labels && { labels }) };
}

export function checkedOptions(given = {}) {
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown) throw wrong(`there is no option ${unknown}`);
  checkFunctions(given);
  return {
    server: given.server ?? '',
    socket: given.socket ?? defaultSocketPath(),
    attach: attachParams(given),
    attachTimeoutMs: milliseconds('attachTimeoutMs', given.attachTimeoutMs ?? 60_000),
    approvalTimeoutMs: milliseconds('approvalTimeoutMs', given.approvalTimeoutMs ?? 120_000),
    limits: numbers('limits', given.limits, limits, least),
    reconnect: given.reconnect === false ? undefined
      : numbers('reconnect', given.reconnect === true ? {} : given.reconnect, reconnect, { attempts: 1 }),
  };
}
