// Reads the responses of one connection, and checks their framing against HTTP/1.1: each response has a status line,
// headers and an unambiguous end, and answers a request.

export interface Answer {
  readonly status: number;
  readonly headers: string;
  /** The beginning of the body, at most KEPT_BYTES. */
  readonly text: string;
  /** Whether the response is the last one of its connection. */
  readonly isLast: boolean;
}

export interface AnswerReader {
  /** Reads the next bytes. Throws if the framing is broken. */
  take(bytes: Buffer): void;
  /** To be called when the server has ended the connection. Throws if a response is incomplete. */
  end(): void;
  /** The response that is being read; null until its headers have arrived. */
  readonly begun: Answer | null;
  /** How many bytes of the body of `begun` have been read. */
  readonly bytes: number;
}

const MAX_HEADER_BYTES = 65_536;
const KEPT_BYTES = 400;
const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) [^\r\n]*(?=\r\n|$)/;
const HEADER_LINES = /^(?:\r\n[\w!#$%&'*+.^`|~-]+:[^\r\n\0]*)*$/;
const END_OF_HEAD = "\r\n\r\n";

/** The part of a response that is read next. `until the end`: a body that ends with the connection. */
type Place = "head" | "body" | "chunk size" | "chunk" | "chunk end" | "trailer" | "until the end";

/**
 * Returns a reader for one connection. `isHead` returns whether the next response answers a HEAD request; null if no
 * response is expected.
 */
export function answerReader(
  isHead: () => boolean | null,
  done: (answer: Answer) => void,
): AnswerReader {
  let waiting: Buffer = Buffer.alloc(0);
  let place: Place = "head";
  let [left, bytes, text] = [0, 0, ""];
  let begun: Answer | null = null;

  const finish = () => {
    const answer = { ...(begun as Answer), text };
    [place, begun, bytes, text] = ["head", null, 0, ""];
    done(answer);
  };

  const readHead = (head: string) => {
    const [line = "", status = ""] = STATUS_LINE.exec(head) ?? [];
    const headers = head.slice(line.length);
    if (line === "" || !HEADER_LINES.test(headers)) throw broken("an invalid head", head);
    // 100 Continue: the final response follows.
    if (status === "100") return;
    const isForHead = isHead();
    if (isForHead === null) throw broken("a response without a request", head);
    const lengths = [...headers.matchAll(/\r\ncontent-length:([^\r]*)/gi)].map(([, one]) => one);
    const isChunked = /\r\ntransfer-encoding: *chunked/i.test(headers);
    const isLast = /\r\nconnection: *close/i.test(headers);
    begun = { status: Number(status), headers, text, isLast };
    const hasNone = isForHead || status === "204" || status === "304";
    if (lengths.length + Number(isChunked) > 1) throw broken("two lengths", head);
    const length = (lengths[0] ?? "0").trim();
    if (!/^\d{1,15}$/.test(length)) throw broken("an invalid length", head);
    left = Number(length);
    if (hasNone) finish();
    else if (isChunked) place = "chunk size";
    else if (lengths.length > 0 && left === 0) finish();
    else if (lengths.length > 0) place = "body";
    else if (isLast) place = "until the end";
    else throw broken("no length", head);
  };

  const cut = (length: number): Buffer => {
    const part = waiting.subarray(0, length);
    waiting = waiting.subarray(length);
    return part;
  };

  const readBody = () => {
    const part = cut(place === "until the end" ? waiting.length : left);
    left -= part.length;
    if (bytes < KEPT_BYTES) text += part.toString("utf8", 0, KEPT_BYTES - bytes);
    bytes += part.length;
    if (left > 0 || place === "until the end") return false;
    if (place === "chunk") place = "chunk end";
    else finish();
    return true;
  };

  /** Returns the next line; null until its end has arrived. */
  const readLine = (most: number): string | null => {
    const at = waiting.indexOf("\r\n");
    if (at > most || (at < 0 && waiting.length > most)) throw broken(`no ${place}`, `${waiting}`);
    return at < 0 ? null : cut(at + 2).toString("latin1", 0, at);
  };

  const readChunkLine = (): boolean => {
    const line = readLine(place === "trailer" ? 1_000 : 16);
    if (line === null) return false;
    if (place === "chunk size") {
      if (!/^[\da-f]{1,8}$/i.test(line)) throw broken("no chunk size", line);
      left = Number.parseInt(line, 16);
      place = left === 0 ? "trailer" : "chunk";
    } else if (place === "trailer") {
      if (line === "") finish();
      else if (!HEADER_LINES.test(`\r\n${line}`)) throw broken("no trailer", line);
    } else if (line !== "") throw broken("bytes after a chunk", line);
    else place = "chunk size";
    return true;
  };

  /** Returns false if more bytes are needed. */
  const step = (): boolean => {
    if (waiting.length === 0) return false;
    if (place === "body" || place === "chunk" || place === "until the end") return readBody();
    if (place !== "head") return readChunkLine();
    const at = waiting.indexOf(END_OF_HEAD);
    if (at < 0 && waiting.length > MAX_HEADER_BYTES)
      throw broken("a head that is too long", `${waiting}`);
    if (at < 0) return false;
    readHead(cut(at + END_OF_HEAD.length).toString("latin1", 0, at));
    return true;
  };

  return {
    take(more) {
      waiting = waiting.length === 0 ? more : Buffer.concat([waiting, more]);
      while (step());
    },
    end() {
      if (place === "until the end") finish();
      else if (place !== "head" || waiting.length > 0) throw broken(`an end in the ${place}`, "");
    },
    get begun() {
      return begun;
    },
    get bytes() {
      return bytes;
    },
  };
}

const broken = (what: string, where: string) =>
  new Error(`the framing is broken: ${what}: ${JSON.stringify(where.slice(0, 300))}`);
