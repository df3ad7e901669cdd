// The limits of the HTTP server. Times are in milliseconds.
import { totalmem } from "node:os";

export const defaultLimits = Object.freeze({
  headerBytes: 16_384,
  headerCount: 100,
  /** Time from the first byte of a request to the end of its headers. */
  headersTimeoutMs: 10_000,
  /** Time from the first byte of a request to the end of its body. */
  requestTimeoutMs: 30_000,
  /** Time that an idle connection is kept. */
  keepAliveMs: 10_000,
  /** Time without traffic after which a connection is closed, except while a request is processed. */
  silenceMs: 60_000,
  /** Time after which a connection is closed if its client reads nothing more of a response. */
  stalledMs: 10_000,
  connections: 2_000,
  /** Number of requests processed at once. Event streams and downloads count only until their response begins. */
  unanswered: 200,
  /** Number of requests of one client (an address, or an IPv6 /64) processed at once. */
  unansweredPerClient: 50,
  /** Number of requests of one connection processed at once. Further requests wait unparsed. */
  pipelined: 4,
  /** Bytes of a connection's responses that its client has not read yet. */
  unreadBytes: 32 * 1_048_576,
  /** Bytes of all unread responses, and of the memory that is reserved for responses in preparation. */
  unreadBytesInAll: 256 * 1_048_576,
  /** Bytes of a connection's unread responses beyond which its next request is not processed. */
  readOnBytes: 1_048_576,
  /** Time that a request waits for memory for its response. */
  memoryWaitMs: 1_750,
  /**
   * Bytes of the rest of a request's body that are read and discarded once the response is ready. If the rest is
   * larger, or takes longer than `discardMs`, the connection is closed.
   */
  discardedBytes: 32 * 1_048_576,
  discardMs: 5_000,
  /** Time that stop() waits for unfinished requests. */
  stopMs: 9_000,
});
export type Limits = { readonly [K in keyof typeof defaultLimits]: number };

/**
 * Returns the limit `unreadBytesInAll` for this process: a quarter of the memory, but at most half of V8's heap, and at
 * most the default.
 */
export function answerBytesHere(): number {
  // Loaded only here: node:v8 takes 1.6 MB, and a worker without an admin does not need it.
  const { heap_size_limit: heap } = process.getBuiltinModule("node:v8").getHeapStatistics();
  const most = Math.min(totalmem(), process.constrainedMemory() || totalmem(), 2 * heap);
  return Math.min(defaultLimits.unreadBytesInAll, Math.floor(most / 4));
}
