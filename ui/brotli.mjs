// What the server sends to a browser, as small as brotli makes it.
import { brotliCompressSync, constants } from "node:zlib";

/** Some bytes, compressed. */
export function brotli(bytes) {
  return brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      // In small blocks the parts of a packed module (pack.mjs) are told apart.
      [constants.BROTLI_PARAM_LGBLOCK]: 16,
      [constants.BROTLI_PARAM_LGWIN]: 18,
    },
  });
}
