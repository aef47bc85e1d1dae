// Server-Sent Events over fetch: EventSource can't send an Authorization header.
// The parser follows https://html.spec.whatwg.org/multipage/server-sent-events.html

/** Turns chunks of a stream into events. `lastEventId` and `retry` live as long as the parser. */
export class EventStreamParser {
  lastEventId = "";
  /** Milliseconds the server asks us to wait before reconnecting; null until it does. */
  retry = null;
  #decoder = new TextDecoder();
  #rest = "";
  #endedInCR = false;
  #type = "";
  #data = null;
  #id = "";

  /** Returns the events that `bytes` completes. */
  push(bytes) {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (text === "") return [];
    // CR, LF and CRLF all end a line, and a chunk may end between CR and LF.
    if (this.#endedInCR && text.startsWith("\n")) text = text.slice(1);
    if (text !== "") this.#endedInCR = text.endsWith("\r");
    const lines = (this.#rest + text).split(/\r\n|\r|\n/);
    this.#rest = lines.pop();
    return lines.map((line) => this.#line(line)).filter((event) => event !== null);
  }

  #line(line) {
    if (line === "") return this.#dispatch();
    if (line.startsWith(":")) return null;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#type = value;
    if (field === "data") this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    if (field === "id" && !value.includes("\0")) this.#id = value;
    if (field === "retry" && /^[0-9]+$/.test(value)) this.retry = Number(value);
    return null;
  }

  #dispatch() {
    this.lastEventId = this.#id;
    const event =
      this.#data === null
        ? null
        : { type: this.#type || "message", data: this.#data, id: this.#id };
    this.#type = "";
    this.#data = null;
    return event;
  }
}

/**
 * Reads one stream to its end, or until `onEvent`, called for each event in order, returns false.
 * Returns the milliseconds the server asks us to wait before reconnecting, or null.
 * Throws when nothing at all, not even a comment, arrives for `silenceMs`.
 */
export async function readEvents(body, { silenceMs, onEvent }) {
  const parser = new EventStreamParser();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await withDeadline(reader.read(), silenceMs);
      if (done) return parser.retry;
      for (const event of parser.push(value)) {
        if (onEvent(event) === false) return parser.retry;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function withDeadline(promise, milliseconds) {
  let timer;
  const deadline = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("the stream fell silent")), milliseconds);
  });
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
