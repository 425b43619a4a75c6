// The four protocols that hosts speak to their models, with one face. Of a request: which tools it offers and what the
// tools have answered so far. Of a turn, `{ call: { name, args } }` or `{ text }`: the body of the answer.

const sse = (events) => events.map(([event, data]) =>
  `${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`).join('');
const streamed = (events) => ({ type: 'text/event-stream', body: sse(events) });
const whole = (value) => ({ type: 'application/json', body: JSON.stringify(value) });

// A tool's answer as one text: hosts send a text, a list of parts, or an object.
function textOf(value) {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((part) => part.text ?? JSON.stringify(part)).join('\n');
  return JSON.stringify(value);
}

let calls = 0;
const newId = () => `call_${++calls}`;

const anthropic = {
  isAt: (path) => path.includes('/messages'),
  offered: ({ tools = [] }) => tools.map(({ name }) => name),
  results: ({ messages = [] }) => messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .filter(({ type }) => type === 'tool_result').map(({ content }) => textOf(content)),
  answer({ model, stream }, { call, text }) {
    const id = newId();
    const block = call ? { type: 'tool_use', id, name: call.name, input: call.args } : { type: 'text', text };
    const reason = call ? 'tool_use' : 'end_turn';
    const message = { id: `message_${id}`, type: 'message', role: 'assistant', model, content: [block], stop_reason: reason,
                      stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
    if (!stream) return whole(message);
    const start = call ? { ...block, input: {} } : { type: 'text', text: '' };
    const delta = call ? { type: 'input_json_delta', partial_json: JSON.stringify(call.args) } : { type: 'text_delta', text };
    return streamed([
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: start },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ].map((event) => [event.type, event]));
  },
};

// Tools of a server stand in a namespace: `mcp__files` and in it `read_text_file`. Here they are one name, with a colon.
const responses = {
  isAt: (path) => path.includes('/responses'),
  offered: ({ tools = [] }) => tools.flatMap(({ type, name, tools: inner = [] }) =>
    (type === 'namespace' ? inner.map((tool) => `${name}:${tool.name}`) : [name])),
  results: ({ input = [] }) => (Array.isArray(input) ? input : []).filter(({ type }) => type === 'function_call_output')
    .map(({ output }) => textOf(output)),
  answer(_, { call, text }) {
    const id = newId();
    const [namespace, name] = call?.name.includes(':') ? call.name.split(':') : [undefined, call?.name];
    const item = call
      ? { type: 'function_call', id: `item_${id}`, call_id: id, name, namespace, arguments: JSON.stringify(call.args), status: 'completed' }
      : { type: 'message', id: `item_${id}`, role: 'assistant', status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] };
    const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 };
    return streamed([
      { type: 'response.created', response: { id: `response_${id}` } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id: `response_${id}`, usage } },
    ].map((event) => [event.type, event]));
  },
};

const chat = {
  isAt: (path) => path.includes('/chat/completions'),
  offered: ({ tools = [] }) => tools.map(({ function: { name } }) => name),
  results: ({ messages = [] }) => messages.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content)),
  answer({ stream }, { call, text }) {
    const id = newId();
    const tool = call && { id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.args) } };
    const message = call ? { role: 'assistant', tool_calls: [stream ? { index: 0, ...tool } : tool] } : { role: 'assistant', content: text };
    const reason = call ? 'tool_calls' : 'stop';
    const common = { id, created: 1, model: 'stand-in' };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    if (!stream) {
      return whole({ ...common, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: reason }], usage });
    }
    const chunk = (delta, finish) => ({ ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });
    return streamed([chunk(message, null), { ...chunk({}, reason), usage }, '[DONE]'].map((event) => [undefined, event]));
  },
};

const gemini = {
  isAt: (path) => /generatecontent/i.test(path),
  offered: ({ tools = [] }) => tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
  results: ({ contents = [] }) => contents.flatMap(({ parts = [] }) => parts).filter((part) => part.functionResponse)
    .map(({ functionResponse }) => textOf(functionResponse.response.output ?? functionResponse.response)),
  answer(_, { call, text }, path) {
    const part = call ? { functionCall: { name: call.name, args: call.args } } : { text };
    const value = { candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }], modelVersion: 'stand-in',
                    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } };
    return /stream/i.test(path) ? streamed([[undefined, value]]) : whole(value);
  },
};

export const dialectAt = (path) => [anthropic, responses, chat, gemini].find(({ isAt }) => isAt(path));
