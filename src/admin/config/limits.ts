// The limits of an admin that an operator can change.
import { InputError, type Problem } from "../../base/errors.ts";
import { answerBytesHere, defaultLimits } from "../../http/bounds/limits.ts";

/** The limits that an admin sets for its clients: whole numbers from 1. */
export interface AdminLimits {
  /**
   * The time within which the answer to a read must begin, not counting a wait for memory, in milliseconds. For exports
   * and payloads this time is at least 3,000. Default 3,000.
   */
  readonly requestMs: number;
  /**
   * The longest wait of a request for database connections and locks, and the longest wait for memory for its answer,
   * in milliseconds. Cleanups and changes of the schema may wait longer for locks. Default 1,750.
   */
  readonly waitMs: number;
  /** The largest request body, in bytes. Default 1,048,576. */
  readonly bodyBytes: number;
  /**
   * The number of open connections of clients. If a new connection exceeds this number, an idle connection is closed.
   * If no connection is idle, a connection of the client with the most connections is closed. adminHandler() ignores
   * this limit. Default 2,000.
   */
  readonly connections: number;
  /**
   * The number of requests that are handled at the same time. Open event streams and running downloads do not count.
   * Default 200.
   */
  readonly requests: number;
  /**
   * The number of requests of one client that are handled at the same time. A client is an IPv4 address, or an IPv6 /64
   * network. Default 50.
   */
  readonly requestsPerClient: number;
  /**
   * The number of requests of one connection that are handled at the same time. Further requests wait. adminHandler()
   * ignores this limit. Default 4.
   */
  readonly pipelined: number;
  /** The number of open event streams. Default 1,000. */
  readonly viewers: number;
  /** The number of open event streams of one client. Default 200. */
  readonly viewersPerClient: number;
  /** The number of exports and payloads that are sent at the same time. Default 16. */
  readonly downloads: number;
  /** The number of exports and payloads that are sent to one client at the same time. Default 4. */
  readonly downloadsPerClient: number;
  /**
   * The number of tasks, and the number of named queues, whose counts of jobs are in /metrics. The tasks and queues
   * with the most jobs are chosen. Default 100.
   */
  readonly metricsNames: number;
  /** The total size of answers that the client of one connection has not read yet, in bytes. Default 32 MiB. */
  readonly unreadBytes: number;
  /**
   * The total size of answers that all clients together have not read yet, including the memory reserved for answers in
   * preparation, in bytes. Default: the least of 256 MiB, a quarter of the memory that the process may use, and half of
   * the maximum size of V8's heap.
   */
  readonly totalUnreadBytes: number;
  /** The time in ms after which a connection is closed if its client reads no more of an answer. Default 10,000. */
  readonly stalledMs: number;
  /**
   * The time after which a client's idle connection is closed, in milliseconds. Behind a load balancer, this time
   * should be longer than the load balancer's idle timeout. adminHandler() ignores this limit. Default 10,000.
   */
  readonly keepAliveMs: number;
}

export const defaultAdminLimits: AdminLimits = Object.freeze({
  requestMs: 3_000,
  waitMs: 1_750,
  bodyBytes: 1_048_576,
  connections: defaultLimits.connections,
  requests: defaultLimits.unanswered,
  requestsPerClient: defaultLimits.unansweredPerClient,
  pipelined: defaultLimits.pipelined,
  viewers: 1_000,
  viewersPerClient: 200,
  downloads: 16,
  downloadsPerClient: 4,
  metricsNames: 100,
  unreadBytes: defaultLimits.unreadBytes,
  totalUnreadBytes: defaultLimits.unreadBytesInAll,
  stalledMs: defaultLimits.stalledMs,
  keepAliveMs: defaultLimits.keepAliveMs,
});

/** Returns the given limits, and defaults for the others. Throws InputError with paths such as `limits.requests`. */
export function resolveLimits(given: Partial<AdminLimits>): AdminLimits {
  const names = Object.keys(defaultAdminLimits);
  const problems = Object.entries(given ?? {}).flatMap(([name, value]): Problem[] => {
    const path = `limits.${name}`;
    if (!names.includes(name)) {
      return [{ path, message: `unknown limit; use one of ${names.join(", ")}` }];
    }
    const fits = value === undefined || (Number.isSafeInteger(value) && value >= 1);
    // If the delay of a timer is above 2 ** 31 - 1 ms, Node.js fires the timer at once.
    const fitsTimer = !name.endsWith("Ms") || value === undefined || value <= 2 ** 31 - 1;
    const most = name.endsWith("Ms") ? " to 2147483647" : "";
    return fits && fitsTimer ? [] : [{ path, message: `must be a whole number from 1${most}` }];
  });
  if (problems.length > 0) throw new InputError(problems);
  const set = Object.entries(given ?? {}).filter(([, value]) => value !== undefined);
  const totalUnreadBytes = answerBytesHere();
  return Object.freeze({ ...defaultAdminLimits, totalUnreadBytes, ...Object.fromEntries(set) });
}
