// The order in which a client attempts to connect to servers, as in libpq, with two differences. After a wrong
// password, the other encryption mode is not attempted. Servers that recently timed out come last, with a short time
// limit, so that connects after a failover do not first wait for the former primary.
import { monotonic } from "../../../base/clock.ts";
import { codeOf, messageOf, WorkerError } from "../../../base/errors.ts";
import { type ConnectWay, waysOf } from "./encryption.ts";
import type { Host, ServerSettings, SessionTarget } from "./server-settings.ts";

export interface Attempt {
  readonly host: Host;
  readonly way: ConnectWay;
  /** The state that the server must have (target_session_attrs). */
  readonly target: SessionTarget;
  /** The time limit for a server that recently timed out, in milliseconds; null: the ordinary limit. */
  readonly enoughMs: number | null;
}

export interface ConnectFailure {
  readonly attempt: Attempt;
  readonly error: unknown;
}

/** The state of a server, as a session reports it. */
export interface ServerState {
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
}

export function attemptsOf(settings: ServerSettings): readonly Attempt[] {
  const { hosts, isShuffled, target, encryption } = settings;
  const order = timedOutLast(isShuffled ? shuffle(hosts) : hosts);
  const rounds: readonly SessionTarget[] =
    target === "prefer-standby" ? ["standby", "any"] : [target];
  return rounds.flatMap((wanted) =>
    order.flatMap((host) =>
      waysOf(encryption, host.host.startsWith("/") && host.address === null).map((way) => ({
        host,
        way,
        target: wanted,
        enoughMs: hosts.length > 1 && hasTimedOut(host) ? TIMED_OUT_LIMIT_MS : null,
      })),
    ),
  );
}

/** How long a host counts as timed out. */
const TIMED_OUT_FOR_MS = 60_000;
/** The time limit of an attempt at a host that counts as timed out, if there are other hosts. */
const TIMED_OUT_LIMIT_MS = 2_000;
const timedOutAt = new WeakMap<Host, number>();

/** Records a timeout of the host. Any other failure deletes the record. */
export function recordFailure({ host, enoughMs }: Attempt, error: unknown): void {
  if (!isTimeout(error)) timedOutAt.delete(host);
  // A timeout under the shorter limit is not recorded, so that after TIMED_OUT_FOR_MS the ordinary limit applies again.
  else if (enoughMs === null) timedOutAt.set(host, monotonic());
}

function hasTimedOut(host: Host): boolean {
  const sinceMs = timedOutAt.get(host) ?? Number.NEGATIVE_INFINITY;
  return monotonic() - sinceMs < TIMED_OUT_FOR_MS;
}

const timedOutLast = (hosts: readonly Host[]): readonly Host[] => [
  ...hosts.filter((host) => !hasTimedOut(host)),
  ...hosts.filter(hasTimedOut),
];

/** Only the text of pg's error shows that the error is a timeout. */
const isTimeout = (error: unknown) => messageOf(error) === "timeout expired";

function shuffle<T>(all: readonly T[]): readonly T[] {
  return all
    .map((one) => ({ one, rank: Math.random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ one }) => one);
}

/** Returns the server's state in words if the state does not match `target`; null if it does. */
export function mismatch(
  target: SessionTarget,
  { isStandby, isReadOnly }: ServerState,
): string | null {
  if (target === "read-write" && isReadOnly) return isStandby ? "a standby" : "read-only";
  if (target === "read-only" && !isReadOnly) return "not read-only";
  if (target === "primary" && isStandby) return "a standby";
  if (target === "standby" && !isStandby) return "no standby";
  return null;
}

/** The server is reachable and does not match the target. The message is the server's state in words. */
export class OtherServerError extends Error {}

const LOGIN_REFUSED = "28000";
const STARTING = "57P03";
/** Errors of an unreachable server. */
const AWAY =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT|EACCES)$/;

/** Returns the index of the attempt that follows the failed attempt `at`; -1: none follows, and the connect fails. */
export function attemptAfter(attempts: readonly Attempt[], at: number, error: unknown): number {
  if (error instanceof WorkerError) return -1;
  const failed = attempts[at];
  const code = codeOf(error) ?? "";
  const isAnswer = /^[0-9A-Z]{5}$/.test(code) && error instanceof Error && "severity" in error;
  const next = attempts[at + 1];
  const sameHost = next !== undefined && next.host === failed?.host && next.way !== failed.way;
  // For these errors, another encryption mode makes no difference.
  const isSame = AWAY.test(code) || isTimeout(error) || error instanceof OtherServerError;
  if (sameHost && !isSame && (!isAnswer || code === LOGIN_REFUSED)) return at + 1;
  if (isAnswer && code !== STARTING) return -1;
  return attempts.findIndex(
    ({ host, target }, place) => place > at && (host !== failed?.host || target !== failed.target),
  );
}

/** Returns one error with the reasons of all failures. */
export function failureOf(failures: readonly ConnectFailure[], target: SessionTarget): unknown {
  const last = failures.at(-1);
  if (last?.error instanceof WorkerError) return last.error;
  const reasons = new Set(
    failures.map(({ attempt: { host }, error }) =>
      error instanceof OtherServerError
        ? `${host.host}:${host.port} is ${error.message}`
        : `${host.host}:${host.port}: ${messageOf(error)}`,
    ),
  );
  if (failures.some(({ error }) => error instanceof OtherServerError)) {
    const none =
      target === "prefer-standby"
        ? "no server accepts the connection"
        : `no server is ${target}, as target_session_attrs requires`;
    const message = `${none} (${[...reasons].join("; ")})`;
    return new WorkerError("database_unreachable", message);
  }
  if (reasons.size <= 1) return last?.error;
  const all = new Error([...reasons].join("; "), { cause: last?.error });
  return Object.assign(all, { code: codeOf(last?.error) });
}
