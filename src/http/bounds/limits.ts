// What any client can hold: every bound of the server, in one place.
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
  /** A connection on which nothing moves either way, milliseconds. */
  silenceMs: 60_000,
  /** A reader that takes nothing of its answer for so long is cut, milliseconds. */
  stalledMs: 10_000,
  connections: 2_000,
  /** Requests being worked on at once; event streams do not count. */
  unanswered: 200,
  /** The same of one client: an address, or an IPv6 /64. */
  unansweredPerClient: 50,
  /** Requests of one connection in work at once; what is sent behind them waits unparsed. */
  pipelined: 4,
  /** Answers that a connection has not taken yet, bytes. */
  unreadBytes: 32 * 1_048_576,
  /** The same of all connections, with what is reserved for answers in work. */
  unreadBytesInAll: 256 * 1_048_576,
  /** A connection that has not taken more than that is worked for only later. */
  readOnBytes: 1_048_576,
  /** How long a request waits for room for its answer, milliseconds. */
  lineMs: 1_750,
  /** What is read and thrown away of a body that was refused. */
  discardedBytes: 32 * 1_048_576,
  discardMs: 5_000,
  /** How long stop() waits for requests in flight, milliseconds. */
  stopMs: 9_000,
});
export type Limits = { readonly [K in keyof typeof defaultLimits]: number };

/** What answers may hold in this process, bytes: the default, or a quarter of the memory it may have. */
export function answerBytesHere(): number {
  const { heap_size_limit: heap } = getHeapStatistics();
  // Texts are in V8's heap, bytes beside it.
  const most = Math.min(totalmem(), process.constrainedMemory() || totalmem(), 2 * heap);
  return Math.min(defaultLimits.unreadBytesInAll, Math.floor(most / 4));
}
