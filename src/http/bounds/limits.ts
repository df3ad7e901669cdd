// All limits of the server, in one place.
import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";

export const defaultLimits = Object.freeze({
  headerBytes: 16_384,
  headerCount: 100,
  /** From the first byte to the end of the headers, milliseconds. */
  headersTimeoutMs: 10_000,
  /** From the first byte to the end of the body, milliseconds. */
  requestTimeoutMs: 30_000,
  /** An idle kept connection, milliseconds. */
  keepAliveMs: 10_000,
  /** A connection without traffic in either direction, milliseconds. */
  silenceMs: 60_000,
  /** A client that reads nothing of its response for this long is cut off, milliseconds. */
  stalledMs: 10_000,
  connections: 2_000,
  /** Requests processed at once, without event streams. */
  unanswered: 200,
  /** The same for one client: an address, or an IPv6 /64. */
  unansweredPerClient: 50,
  /** Requests of one connection processed at once. Further ones wait unparsed. */
  pipelined: 4,
  /** Responses that a connection has not read yet, bytes. */
  unreadBytes: 32 * 1_048_576,
  /** The same for all connections, including reservations. */
  unreadBytesInAll: 256 * 1_048_576,
  /** A connection with more unread bytes must read before its next request is processed. */
  readOnBytes: 1_048_576,
  /** How long a request waits for memory for its response, milliseconds. */
  lineMs: 1_750,
  /** How much of a refused body is read and discarded. */
  discardedBytes: 32 * 1_048_576,
  discardMs: 5_000,
  /** How long stop() waits for requests in flight, milliseconds. */
  stopMs: 9_000,
});
export type Limits = { readonly [K in keyof typeof defaultLimits]: number };

/** The memory for responses in this process, bytes: the default, or a quarter of the available memory. */
export function answerBytesHere(): number {
  const { heap_size_limit: heap } = getHeapStatistics();
  // Texts are in V8's heap, buffers outside it.
  const most = Math.min(totalmem(), process.constrainedMemory() || totalmem(), 2 * heap);
  return Math.min(defaultLimits.unreadBytesInAll, Math.floor(most / 4));
}
