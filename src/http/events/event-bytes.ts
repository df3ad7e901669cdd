// Compresses the events of a stream that many clients share. A piece is compressed once for all clients
// with the same history: its blocks refer to earlier pieces, which most of an event repeats. A client with
// another history (new, or lagging) gets blocks of its own, within a limit, and shares them again after a
// few events. Only the trailer, with the checksum over everything sent, is made for each client. This works
// because gzip blocks can end on a byte boundary and be made one by one.
import { constants, crc32, deflateRawSync } from "node:zlib";
import { acceptsGzip } from "../compress.ts";
import { type HttpRequest, header } from "../request.ts";

/** How far back blocks refer: the pieces of some seconds, within gzip's window (32 KiB). */
const MOST_PIECES = 16;
const MOST_BYTES = 24_576;
/** A piece is compressed for this many histories. For any further one it refers to nothing. */
const MOST_PASTS = 16;

let made = 0;

/** The last pieces that a client was sent, as far as later ones may refer to them. */
class Past {
  static readonly none = new Past([], []);
  /** Equal for all clients with the same history. */
  readonly key: string;
  readonly #numbers: readonly number[];
  readonly #texts: readonly Buffer[];

  private constructor(numbers: readonly number[], texts: readonly Buffer[]) {
    this.key = numbers.join();
    this.#numbers = numbers;
    this.#texts = texts;
  }

  get text(): Buffer {
    return Buffer.concat(this.#texts);
  }

  with(number: number, text: Buffer): Past {
    const texts = [...this.#texts, text].slice(-MOST_PIECES);
    let size = texts.reduce((sum, { length }) => sum + length, 0);
    while (size > MOST_BYTES && texts.length > 0) size -= texts.shift()?.length ?? 0;
    const numbers = [...this.#numbers, number];
    return new Past(texts.length === 0 ? [] : numbers.slice(-texts.length), texts);
  }
}

interface Compressed {
  /** Deflate blocks without a final one. */
  readonly blocks: Buffer;
  /** The client's history after this piece. */
  readonly past: Past;
}

/** A piece of a stream, plain and compressed. */
export class EventBytes {
  readonly plain: Buffer;
  readonly #number = ++made;
  readonly #behind = new Map<string, Compressed>();

  constructor(text: string) {
    this.plain = Buffer.from(text);
  }

  /** The piece compressed for clients with this history. */
  behind(past: Past): Compressed {
    const existing = this.#behind.get(past.key);
    if (existing !== undefined) return existing;
    if (past.key !== "" && this.#behind.size >= MOST_PASTS) return this.behind(Past.none);
    const dictionary = past.key === "" ? {} : { dictionary: past.text };
    const options = { finishFlush: constants.Z_SYNC_FLUSH, level: 9, ...dictionary };
    const compressed: Compressed = {
      blocks: deflateRawSync(this.plain, options),
      past: past.with(this.#number, this.plain),
    };
    this.#behind.set(past.key, compressed);
    return compressed;
  }
}

/** Encodes the stream of one client. */
export interface StreamEncoder {
  readonly headers: Readonly<Record<string, string>>;
  encode(piece: EventBytes): Buffer;
  /** Returns the last bytes of the stream. */
  end(): Buffer;
}

/** gzip if the request accepts it, otherwise plain. */
export function encoderFor(request: HttpRequest): StreamEncoder {
  return acceptsGzip(header(request, "accept-encoding") ?? "") ? gzipEncoder() : plainEncoder;
}

const plainEncoder: StreamEncoder = {
  headers: {},
  encode: ({ plain }) => plain,
  end: () => Buffer.alloc(0),
};

/** No name, no time, unknown system (RFC 1952). */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
/** An empty last block. */
const LAST_BLOCK = Buffer.from([3, 0]);

function gzipEncoder(): StreamEncoder {
  let sum = 0;
  let size = 0;
  let isBegun = false;
  let past = Past.none;
  const begin = (bytes: Buffer) => {
    const begun = isBegun ? bytes : Buffer.concat([GZIP_HEADER, bytes]);
    isBegun = true;
    return begun;
  };
  return {
    headers: { "content-encoding": "gzip" },
    encode: (piece) => {
      sum = crc32(piece.plain, sum);
      size = (size + piece.plain.length) % 2 ** 32;
      const compressed = piece.behind(past);
      ({ past } = compressed);
      return begin(compressed.blocks);
    },
    end: () => {
      const trailer = Buffer.alloc(8);
      trailer.writeUInt32LE(sum, 0);
      trailer.writeUInt32LE(size, 4);
      return begin(Buffer.concat([LAST_BLOCK, trailer]));
    },
  };
}
