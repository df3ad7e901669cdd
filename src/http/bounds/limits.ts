// All limits of the server, in one place.
import { totalmem } from "node:os";

export const defaultLimits = Object.freeze({
  headerBytes: 16_384,
  headerCount: 100,
  /** Time from the first byte to the end of the headers, in milliseconds. */
  headersTimeoutMs: 10_000,
  /** Time from the first byte to the end of the body, in milliseconds. */
  requestTimeoutMs: 30_000,
  /** Time that an idle connection is kept, in milliseconds. */
  keepAliveMs: 10_000,
  /** Time without traffic in either direction, in milliseconds. */
  silenceMs: 60_000,
  /** Time after which a client that reads nothing of its response is cut off, in milliseconds. */
  stalledMs: 10_000,
  connections: 2_000,
  /** Number of requests processed at once, without event streams. */
  unanswered: 200,
  /** Number of requests of one client (an address, or an IPv6 /64) processed at once. */
  unansweredPerClient: 50,
  /** Number of requests of one connection processed at once. Further requests wait unparsed. */
  pipelined: 4,
  /** Bytes of a connection's responses that its client has not read yet. */
  unreadBytes: 32 * 1_048_576,
  /** Bytes of the unread responses of all connections, including reserved memory. */
  unreadBytesInAll: 256 * 1_048_576,
  /** Bytes of a connection's unread responses beyond which its next request is not processed. */
  readOnBytes: 1_048_576,
  /** Time that a request waits for memory for its response, in milliseconds. */
  memoryWaitMs: 1_750,
  /** Bytes of a refused body that are read and discarded. */
  discardedBytes: 32 * 1_048_576,
  discardMs: 5_000,
  /** Time that stop() waits for requests in flight, in milliseconds. */
  stopMs: 9_000,
});
export type Limits = { readonly [K in keyof typeof defaultLimits]: number };

/**
 * Returns the memory for responses in this process, in bytes: the default, or a quarter of the available memory if that
 * is less.
 */
export function answerBytesHere(): number {
  // Loaded here, because a worker without an admin does not need its 1.6 MB.
  const { heap_size_limit: heap } = process.getBuiltinModule("node:v8").getHeapStatistics();
  // Texts are in V8's heap and buffers are outside it, so both limits count.
  const most = Math.min(totalmem(), process.constrainedMemory() || totalmem(), 2 * heap);
  return Math.min(defaultLimits.unreadBytesInAll, Math.floor(most / 4));
}
