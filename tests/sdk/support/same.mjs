import assert from 'node:assert/strict';

// What no two runs of a server have in common, whoever runs it: the time of day of a dynamic
// resource (in base64 too), and the times of a file's inode.
const changing = [
  [/created at [0-9:]+( [AP]M)?/g, 'created at TIME'],
  [/(created|modified|accessed): [^\n"\\]+/g, '$1: TIME'],
];

function withoutTimes(value) {
  if (typeof value === 'string') {
    const plain = /^[A-Za-z0-9+/]+=*$/.test(value) ? Buffer.from(value, 'base64').toString() : value;
    const text = plain.includes('created at') ? plain : value;
    return changing.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);
  }
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (value && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutTimes(member)]));
  }
  return value;
}

// Compares texts of JSON, so that the order of members counts as well.
export function assertSame(direct, throughCell, what) {
  assert.equal(JSON.stringify(withoutTimes(throughCell), null, 1),
               JSON.stringify(withoutTimes(direct), null, 1), what);
}

// The outcome of a promise as a value: an error's code and text are compared like a result.
export async function outcome(promise) {
  try {
    return { result: await promise };
  } catch (error) {
    return { code: error.code, message: error.message };
  }
}
