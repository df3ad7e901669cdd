// Where PostgreSQL's messages end in one direction of a connection, however they are cut into chunks: a
// letter, the length of the rest, the rest. What a client says first has no letter, and what a server says
// to a question about encryption is a single byte. What is no such protocol, HTTP say, has no ends.
const [CANCEL, SSL, GSS] = [80877102, 80877103, 80877104];
/** PostgreSQL's own bound for what a client says first. */
const LONGEST_START = 10_000;

export interface Chunk {
  readonly bytes: Buffer;
  /** Behind which of its bytes a message ends. */
  readonly ends: readonly number[];
}

export class Messages {
  /** What the next bytes begin with. `unknown`: the end of messages cannot be told any more. */
  #next: "start" | "byte" | "letter" | "unknown";
  readonly #onStart: (start: Start) => void;
  /** Of a message that has begun: what is known of its head, and how many bytes are to come. */
  #head: number[] = [];
  #left = 0;
  /** Of the first message, which tells who it is. */
  #start: Buffer[] = [];

  constructor(first: "start" | "letter", onStart: (start: Start) => void = () => {}) {
    this.#next = first;
    this.#onStart = onStart;
  }

  /** The next byte stands alone, and what follows is encrypted if it is an S. */
  expectByte(): void {
    this.#next = "byte";
  }

  /** From here on nothing is known. */
  giveUp(): void {
    this.#next = "unknown";
  }

  /** Gives the bytes with what ends in them. */
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
    if (this.#left < 0 || (isStart && this.#left > LONGEST_START)) {
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
    // After a question about encryption the first message is still to come.
    if (start.kind !== "encryption") this.#next = "letter";
    this.#onStart(start);
  }
}

/** What a client said first. */
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
