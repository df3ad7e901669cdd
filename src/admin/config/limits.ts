// What clients may take of an admin, by the names under which an operator changes it. What is not here
// (headers, timeouts of slow senders) nobody needs to change.
import { InputError, type Problem } from "../../base/errors.ts";
import { answerBytesHere, defaultLimits } from "../../http/bounds/limits.ts";

/** The bounds of an admin server; see adminServerConfig().limits(). Whole numbers from 1. */
export interface AdminLimits {
  /** The longest time until the answer to a read begins, milliseconds. */
  readonly requestMs: number;
  /** How long a request waits for others: in line for a connection, behind locks; milliseconds. */
  readonly lineMs: number;
  /** The largest request body, bytes. */
  readonly bodyBytes: number;
  /** Connections at once; beyond them the oldest idle one is closed. Not for adminHandler(). */
  readonly connections: number;
  /** Requests in work at once, and of one client: an address, or an IPv6 /64. */
  readonly requests: number;
  readonly requestsPerClient: number;
  /** Requests of one connection in work at once; those behind them wait. Not for adminHandler(). */
  readonly pipelined: number;
  /** Event streams at once, and of one client. */
  readonly viewers: number;
  readonly viewersPerClient: number;
  /** Exports and payloads that are being sent at once, and to one client. */
  readonly downloads: number;
  readonly downloadsPerClient: number;
  /** Tasks and queues of which metrics tell, each: those with the most jobs. */
  readonly metricsNames: number;
  /**
   * Answers that one connection has not read yet, bytes; and those of all connections with what is reserved
   * for answers in work, by default 256 MiB or a quarter of the memory that the process may have.
   */
  readonly unreadBytes: number;
  readonly unreadBytesInAll: number;
  /** A reader that takes nothing for so long is cut, milliseconds. */
  readonly stalledMs: number;
  /**
   * An idle kept connection is closed after so long, milliseconds: longer than a load balancer in front keeps
   * its own, which otherwise sends requests on connections that have just been closed.
   */
  readonly keepAliveMs: number;
}

export const defaultAdminLimits: AdminLimits = Object.freeze({
  requestMs: 3_000,
  lineMs: 1_750,
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
  unreadBytesInAll: defaultLimits.unreadBytesInAll,
  stalledMs: defaultLimits.stalledMs,
  keepAliveMs: defaultLimits.keepAliveMs,
});

/** Throws InputError; its paths begin with `limits.`. */
export function resolveLimits(given: Partial<AdminLimits>): AdminLimits {
  const names = Object.keys(defaultAdminLimits);
  const problems = Object.entries(given ?? {}).flatMap(([name, value]): Problem[] => {
    const path = `limits.${name}`;
    if (!names.includes(name)) {
      return [{ path, message: `unknown limit; there are ${names.join(", ")}` }];
    }
    const fits = value === undefined || (Number.isSafeInteger(value) && value >= 1);
    // Longer timers would fire at once.
    const isShort = !name.endsWith("Ms") || value === undefined || value <= 2 ** 31 - 1;
    return fits && isShort ? [] : [{ path, message: "must be a whole number from 1" }];
  });
  if (problems.length > 0) throw new InputError(problems);
  const set = Object.entries(given ?? {}).filter(([, value]) => value !== undefined);
  const unreadBytesInAll = answerBytesHere();
  return Object.freeze({ ...defaultAdminLimits, unreadBytesInAll, ...Object.fromEntries(set) });
}
