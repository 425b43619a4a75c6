// Bytes in, lines out, with a bound. Of a line that is longer the beginning and the end are kept: enough
// to say whose it is.

const newline = 10;
const kept = 512;
const longestSkipped = 16; // times the bound: then nobody reads it to its end

export class LineSplitter {
  #most;
  #handlers;
  #parts = [];
  #size = 0;
  #long; // { head, tail } of what is being skipped
  #isOver = false;

  // handlers: line(text), longLine({ head, tail }), endless()
  constructor(most, handlers) {
    this.#most = most;
    this.#handlers = handlers;
  }

  // Nothing more is told.
  stop() {
    this.#isOver = true;
  }

  push(chunk) {
    let begin = 0;
    for (let end = chunk.indexOf(newline); end !== -1 && !this.#isOver; end = chunk.indexOf(newline, begin)) {
      this.#add(chunk.subarray(begin, end));
      if (!this.#isOver) this.#finish();
      begin = end + 1;
    }
    if (!this.#isOver) this.#add(chunk.subarray(begin));
  }

  #add(part) {
    this.#size += part.length;
    if (this.#long) this.#long.tail = Buffer.concat([this.#long.tail, part.subarray(-kept)]).subarray(-kept);
    else this.#parts.push(part);
    if (!this.#long && this.#size > this.#most) {
      const whole = Buffer.concat(this.#parts);
      this.#long = { head: whole.subarray(0, kept), tail: whole.subarray(-kept) };
      this.#parts = [];
    }
    if (this.#size > longestSkipped * this.#most) this.#handlers.endless();
  }

  #finish() {
    const long = this.#long;
    const whole = long ? undefined : Buffer.concat(this.#parts).toString();
    this.#parts = [];
    this.#size = 0;
    this.#long = undefined;
    if (long) this.#handlers.longLine({ head: long.head.toString(), tail: long.tail.toString() });
    else this.#handlers.line(whole);
  }
}

const version = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
const id = String.raw`"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")`;
const beginsAsQuestion = new RegExp(String.raw`^\s*\{\s*(?:${version}\s*,\s*)?(?:${id}\s*,\s*)?"method"\s*:`);
const beginsAsAnswer = new RegExp(String.raw`^\s*\{\s*(?:${version}\s*,\s*)?${id}\s*,`);
// The last brace of a line closes no other, so what stands right before it is a member of the message.
const endsAsAnswer = new RegExp(String.raw`,\s*(?:${version}\s*,\s*)?${id}\s*(?:,\s*${version}\s*)?\}\s*$`);

// Whose a long line is: { isQuestion, id }, without an id where it is a notification; undefined: nobody
// can tell.
export function ownerOf({ head, tail }) {
  const question = beginsAsQuestion.exec(head);
  if (question) return { isQuestion: true, id: question[1] && JSON.parse(question[1]) };
  const answer = beginsAsAnswer.exec(head) ?? endsAsAnswer.exec(tail);
  return answer ? { isQuestion: false, id: JSON.parse(answer[1]) } : undefined;
}
