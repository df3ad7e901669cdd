// The bytes of a stream that many readers share. A piece is compressed once, by itself: a gzip stream is
// a header, blocks that end on a byte, and a trailer, and blocks that refer to nothing before them may
// be strung together in any order. Only the trailer, with the sum over what this reader was sent, is the
// reader's own. (Brotli has no such blocks: it would be compressed for each reader.)
import { constants, crc32, deflateRawSync } from "node:zlib";
import { acceptsGzip } from "../compress.ts";
import { type HttpRequest, header } from "../request.ts";

/** A piece of a stream, as it is and compressed. */
export class EventBytes {
  readonly plain: Buffer;
  #deflated: Buffer | null = null;

  constructor(text: string) {
    this.plain = Buffer.from(text);
  }

  /** Deflate blocks that stand for themselves, without an end. */
  get deflated(): Buffer {
    this.#deflated ??= deflateRawSync(this.plain, { finishFlush: constants.Z_FULL_FLUSH });
    return this.#deflated;
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
      return begin(piece.deflated);
    },
    end: () => {
      const trailer = Buffer.alloc(8);
      trailer.writeUInt32LE(sum, 0);
      trailer.writeUInt32LE(size, 4);
      return begin(Buffer.concat([LAST_BLOCK, trailer]));
    },
  };
}
