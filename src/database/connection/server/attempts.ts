// The order in which servers are tried at each connect, and after which failure the next one is: libpq's
// rules. Whoever answers "wrong password" has answered; only who is away, or not what was asked for, has not.
// Unlike libpq, who said nothing lately is asked last, and not for long: a cut-off primary would cost every try its
// share of time, also those that could find the standby promoted by now.
import { monotonic } from "../../../base/clock.ts";
import { codeOf, messageOf, WorkerError } from "../../../base/errors.ts";
import { type Try, triesOf } from "./encryption.ts";
import type { Host, ServerSettings, SessionTarget } from "./server-settings.ts";

export interface Attempt {
  readonly host: Host;
  readonly way: Try;
  /** What the server has to be. */
  readonly target: SessionTarget;
  /** Milliseconds that are enough for it; null: whatever there is. */
  readonly enoughMs: number | null;
}

export interface ConnectFailure {
  readonly attempt: Attempt;
  readonly error: unknown;
}

/** What a session says of its server. */
export interface ServerState {
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
}

export function attemptsOf(settings: ServerSettings): readonly Attempt[] {
  const { hosts, isShuffled, target, encryption } = settings;
  const order = silentLast(isShuffled ? shuffled(hosts) : hosts);
  const rounds: readonly SessionTarget[] =
    target === "prefer-standby" ? ["standby", "any"] : [target];
  return rounds.flatMap((wanted) =>
    order.flatMap((host) =>
      triesOf(encryption, host.host.startsWith("/") && host.address === null).map((way) => ({
        host,
        way,
        target: wanted,
        enoughMs: hosts.length > 1 && isSilent(host) ? SILENT_HOST_MS : null,
      })),
    ),
  );
}

const SILENT_FOR_MS = 60_000;
const SILENT_HOST_MS = 2_000;
const silentSince = new WeakMap<Host, number>();

/** To be told of every failed attempt. */
export function remember({ host, enoughMs }: Attempt, error: unknown): void {
  if (!isTimeout(error)) silentSince.delete(host);
  // One that is slow has all of its time again after a while.
  else if (enoughMs === null) silentSince.set(host, monotonic());
}

function isSilent(host: Host): boolean {
  const sinceMs = silentSince.get(host) ?? Number.NEGATIVE_INFINITY;
  return monotonic() - sinceMs < SILENT_FOR_MS;
}

const silentLast = (hosts: readonly Host[]): readonly Host[] => [
  ...hosts.filter((host) => !isSilent(host)),
  ...hosts.filter(isSilent),
];

/** In pg's words. */
const isTimeout = (error: unknown) => messageOf(error) === "timeout expired";

function shuffled<T>(all: readonly T[]): readonly T[] {
  return all
    .map((one) => ({ one, rank: Math.random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ one }) => one);
}

/** null: the server is what `target` asks for; else what it is instead. */
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

/** The server is there, and not what was asked for. */
export class OtherServerError extends Error {}

const LOGIN_REFUSED = "28000";
const STARTING = "57P03";
/** Nobody is there, so that encryption is no matter. */
const AWAY =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT|EACCES)$/;

/** The place of the attempt that comes after a failed one; -1: none. */
export function attemptAfter(attempts: readonly Attempt[], at: number, error: unknown): number {
  if (error instanceof WorkerError) return -1;
  const failed = attempts[at];
  const code = codeOf(error) ?? "";
  const isAnswer = /^[0-9A-Z]{5}$/.test(code) && error instanceof Error && "severity" in error;
  const next = attempts[at + 1];
  const sameHost = next !== undefined && next.host === failed?.host && next.way !== failed.way;
  const isAway = AWAY.test(code) || isTimeout(error);
  if (sameHost && !isAway && (!isAnswer || code === LOGIN_REFUSED)) return at + 1;
  if (isAnswer && code !== STARTING) return -1;
  return attempts.findIndex(
    ({ host, target }, place) => place > at && (host !== failed?.host || target !== failed.target),
  );
}

/** All failures as one: as it is where there is one, else with the servers' names. */
export function failureOf(failures: readonly ConnectFailure[], target: SessionTarget): unknown {
  const last = failures.at(-1);
  if (last?.error instanceof WorkerError) return last.error;
  const said = new Set(
    failures.map(({ attempt: { host }, error }) =>
      error instanceof OtherServerError
        ? `${host.host}:${host.port} is ${error.message}`
        : `${host.host}:${host.port}: ${messageOf(error)}`,
    ),
  );
  if (failures.some(({ error }) => error instanceof OtherServerError)) {
    const message = `no server is ${target}, as target_session_attrs has it (${[...said].join("; ")})`;
    return new WorkerError("database_unreachable", message);
  }
  if (said.size <= 1) return last?.error;
  const all = new Error([...said].join("; "), { cause: last?.error });
  return Object.assign(all, { code: codeOf(last?.error) });
}
