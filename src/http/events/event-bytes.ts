// Encodes event streams, plain or with gzip. A piece of a stream is one event or one ping. Events repeat most of their
// text, so the gzip blocks of a piece refer to the client's history: the last pieces that were sent to the client. All
// clients with the same history get the same blocks.
import { constants, crc32, deflateRawSync } from "node:zlib";
import { acceptsGzip } from "../compress.ts";
import { type HttpRequest, header } from "../request.ts";

const MAX_PIECES = 16;
/** Less than gzip's window of 32 KiB. */
const MAX_BYTES = 24_576;
/** A piece is compressed for this many histories. For other histories, it is compressed without earlier pieces. */
const MAX_HISTORIES = 16;

let made = 0;

class History {
  static readonly none = new History([], []);
  /** Equal for equal histories; empty for the empty history. */
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

  with(number: number, text: Buffer): History {
    const texts = [...this.#texts, text].slice(-MAX_PIECES);
    let size = texts.reduce((sum, { length }) => sum + length, 0);
    while (size > MAX_BYTES && texts.length > 0) size -= texts.shift()?.length ?? 0;
    const numbers = [...this.#numbers, number];
    return new History(texts.length === 0 ? [] : numbers.slice(-texts.length), texts);
  }
}

interface CompressedPiece {
  /** Deflate blocks, none of which is marked as the final one. */
  readonly blocks: Buffer;
  /** The history of a client that has received these blocks. */
  readonly history: History;
}

/** A piece of a stream, plain and compressed. */
export class EventBytes {
  readonly plain: Buffer;
  readonly #number = ++made;
  readonly #compressed = new Map<string, CompressedPiece>();

  constructor(text: string) {
    this.plain = Buffer.from(text);
  }

  /** Returns the piece, compressed for clients with this history. */
  compressedAfter(history: History): CompressedPiece {
    const existing = this.#compressed.get(history.key);
    if (existing !== undefined) return existing;
    if (history.key !== "" && this.#compressed.size >= MAX_HISTORIES)
      return this.compressedAfter(History.none);
    const dictionary = history.key === "" ? {} : { dictionary: history.text };
    const options = { finishFlush: constants.Z_SYNC_FLUSH, level: 9, ...dictionary };
    const compressed: CompressedPiece = {
      blocks: deflateRawSync(this.plain, options),
      history: history.with(this.#number, this.plain),
    };
    this.#compressed.set(history.key, compressed);
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

/** Returns an encoder for gzip if the request accepts gzip, otherwise an encoder for plain text. */
export function encoderFor(request: HttpRequest): StreamEncoder {
  return acceptsGzip(header(request, "accept-encoding") ?? "") ? gzipEncoder() : plainEncoder;
}

const plainEncoder: StreamEncoder = {
  headers: {},
  encode: ({ plain }) => plain,
  end: () => Buffer.alloc(0),
};

/** A gzip header without optional fields (RFC 1952). */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
/** An empty deflate block that is marked as the final one. */
const LAST_BLOCK = Buffer.from([3, 0]);

function gzipEncoder(): StreamEncoder {
  let sum = 0;
  let size = 0;
  let isBegun = false;
  let history = History.none;
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
      const compressed = piece.compressedAfter(history);
      ({ history } = compressed);
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
