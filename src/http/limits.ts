// What any client can hold: every bound of the server, in one place.

export const defaultLimits = Object.freeze({
  headerBytes: 16_384,
  headerCount: 100,
  /** From the first byte to the end of the headers, milliseconds. */
  headersTimeout_ms: 10_000,
  /** From the first byte to the end of the body, milliseconds. */
  requestTimeout_ms: 30_000,
  /** An idle kept connection, milliseconds. */
  keepAlive_ms: 10_000,
  /** A connection on which nothing moves either way, milliseconds. */
  silence_ms: 60_000,
  connections: 2_000,
  /** Requests being worked on at once; event streams do not count. */
  unanswered: 200,
  /** What is read and thrown away of a body that was refused. */
  discardedBytes: 32 * 1_048_576,
  discard_ms: 5_000,
  /** How long stop() waits for requests in flight, milliseconds. */
  stop_ms: 9_000,
});
export type Limits = { readonly [K in keyof typeof defaultLimits]: number };
