// Finds where PostgreSQL's messages end in one direction of a connection. A message is a letter, a length and a body; a
// client's first message has no letter.
const [CANCEL, SSL, GSS] = [80877102, 80877103, 80877104];
/** PostgreSQL's own limit for a client's first message. */
const MAX_START_LENGTH = 10_000;

export interface Chunk {
  readonly bytes: Buffer;
  /** The positions in the chunk at which a message ends. */
  readonly ends: readonly number[];
}

export class Messages {
  /** What the next bytes are. `unknown`: no more ends are determined. */
  #next: "start" | "byte" | "letter" | "unknown";
  readonly #onStart: (start: Start) => void;
  /** The letter and the length of the current message, as far as they have arrived. */
  #head: number[] = [];
  /** How many bytes of the body have not arrived yet. */
  #left = 0;
  /** The parts of the body of the client's first message. */
  #start: Buffer[] = [];

  constructor(first: "start" | "letter", onStart: (start: Start) => void = () => {}) {
    this.#next = first;
    this.#onStart = onStart;
  }

  /**
   * Expects the server's response to an encryption request: a single byte, or an error message, whose letter is E.
   * After the single byte S, all data are encrypted.
   */
  expectByte(): void {
    this.#next = "byte";
  }

  /** Stops determining the ends of messages. */
  giveUp(): void {
    this.#next = "unknown";
  }

  /** Returns the next chunk of data with the ends of messages. */
  read(bytes: Buffer): Chunk {
    const ends: number[] = [];
    let at = 0;
    while (at < bytes.length && this.#next !== "unknown") {
      if (this.#next === "byte") {
        if (bytes[at] === "E".charCodeAt(0)) this.#next = "letter";
        else {
          this.#next = bytes[at] === "S".charCodeAt(0) ? "unknown" : "letter";
          ends.push(++at);
        }
      } else at = this.#advance(bytes, at, ends);
    }
    return { bytes, ends };
  }

  #advance(bytes: Buffer, from: number, ends: number[]): number {
    const isStart = this.#next === "start";
    const headBytes = isStart ? 4 : 5;
    let at = from;
    while (this.#head.length < headBytes && at < bytes.length) this.#head.push(bytes[at++] ?? 0);
    if (this.#head.length < headBytes) return at;
    if (this.#left === 0) this.#left = Buffer.from(this.#head.slice(-4)).readUInt32BE() - 4;
    if (this.#left < 0 || (isStart && this.#left > MAX_START_LENGTH)) {
      this.#next = "unknown";
      if (isStart) this.#onStart({ kind: "other" });
      return at;
    }
    const part = bytes.subarray(at, at + this.#left);
    if (isStart) this.#start.push(part);
    at += part.length;
    this.#left -= part.length;
    if (this.#left > 0) return at;
    ends.push(at);
    this.#head = [];
    if (isStart) this.#started();
    return at;
  }

  #started(): void {
    const start = startOf(Buffer.concat(this.#start));
    this.#start = [];
    // After an encryption request, the client sends another first message.
    if (start.kind !== "encryption") this.#next = "letter";
    this.#onStart(start);
  }
}

/** A client's first message. `other`: not a message of PostgreSQL's protocol. */
export type Start =
  | { readonly kind: "login"; readonly application: string }
  | { readonly kind: "encryption" | "cancel" | "other" };

function startOf(body: Buffer): Start {
  const code = body.length < 4 ? 0 : body.readUInt32BE();
  if (code === SSL || code === GSS) return { kind: "encryption" };
  if (code === CANCEL) return { kind: "cancel" };
  const words = body.subarray(4).toString("utf8").split("\0");
  const at = words.findIndex((word, index) => index % 2 === 0 && word === "application_name");
  return { kind: "login", application: at < 0 ? "" : (words[at + 1] ?? "") };
}
