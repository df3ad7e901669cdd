// The bytes of a stream that many readers share. A piece is compressed for all who were sent the same
// before it: its blocks may refer to that, and most of an event stands in the one before. Who was sent
// something else lately (who has just come, who has lagged) has blocks of its own, up to a bound, and is
// like the others again a few events later. Only the trailer, with the sum over what this reader was
// sent, is always the reader's own. (Of gzip blocks end on a byte, and can be made one by one like this.)
import { constants, crc32, deflateRawSync } from "node:zlib";
import { acceptsGzip } from "../compress.ts";
import { type HttpRequest, header } from "../request.ts";

/** As far back as blocks refer: the pieces of some seconds, within what gzip can reach (32 KiB). */
const MOST_PIECES = 16;
const MOST_BYTES = 24_576;
/** For so many different pasts a piece is compressed; with any other one it refers to nothing. */
const MOST_PASTS = 16;

let made = 0;

/** What a reader was sent last, as far as what follows may refer to it. */
class Past {
  static readonly none = new Past([], []);
  /** Alike for all readers of whom it is true. */
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
  /** Deflate blocks without an end. */
  readonly blocks: Buffer;
  /** What its readers have been sent with it. */
  readonly past: Past;
}

/** A piece of a stream, as it is and compressed. */
export class EventBytes {
  readonly plain: Buffer;
  readonly #number = ++made;
  readonly #behind = new Map<string, Compressed>();

  constructor(text: string) {
    this.plain = Buffer.from(text);
  }

  /** Compressed for who was sent `past` before. */
  behind(past: Past): Compressed {
    const known = this.#behind.get(past.key);
    if (known !== undefined) return known;
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

/** What one reader gets of the pieces, in their order. */
export interface StreamEncoder {
  readonly headers: Readonly<Record<string, string>>;
  encode(piece: EventBytes): Buffer;
  /** What makes the stream complete. */
  end(): Buffer;
}

/** gzip where the request accepts it, else plain. */
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
