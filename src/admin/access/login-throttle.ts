// Limits how many credentials are compared in a second, so that only short secrets can be guessed. A network (an IPv4
// address, or a /64 of IPv6) that has logged in within the last hour has no limit.
import { monotonic } from "../../base/clock.ts";
import { networkOf } from "../../http/bounds/client-address.ts";

/**
 * The kind of secret that was sent: the login's secret, or the token for metrics. Successes are recorded separately for
 * each kind, so that a network that has only the token for metrics cannot guess the login's secret without a limit.
 */
export type LoginKind = "login" | "metrics";

export interface LoginThrottle {
  /** Whether the client's network has sent right credentials of that kind within the last hour. */
  hasLoggedIn(kind: LoginKind, client: string): boolean;
  /** Whether the client's credentials may be compared now. If a limit applies, an allowed call counts as a guess. */
  mayCompare(client: string): boolean;
  /** Records right credentials from the client's network. */
  recordSuccess(kind: LoginKind, client: string): void;
}

const GUESSES_PER_SECOND = 64;
const GUESSES_PER_SECOND_OF_ONE = 8;
const SECOND_MS = 1_000;
const LOGIN_VALID_MS = 3_600_000;
const MAX_NETWORKS = 10_000;

interface Guess {
  readonly network: string;
  readonly atMs: number;
}

export function createLoginThrottle(clock: () => number = monotonic): LoginThrottle {
  /** The guesses of the last second, oldest first. */
  let guesses: readonly Guess[] = [];
  /** For each kind, the time of each network's last success, oldest first. */
  const lastLogins: Readonly<Record<LoginKind, Map<string, number>>> = {
    login: new Map(),
    metrics: new Map(),
  };

  const hasLoggedIn = (kind: LoginKind, client: string) => {
    const loggedInMs = lastLogins[kind].get(networkOf(client));
    return loggedInMs !== undefined && clock() - loggedInMs < LOGIN_VALID_MS;
  };

  return {
    hasLoggedIn,
    mayCompare(client) {
      if (hasLoggedIn("login", client)) return true;
      const network = networkOf(client);
      const atMs = clock();
      guesses = guesses.filter((guess) => atMs - guess.atMs < SECOND_MS);
      if (guesses.length >= GUESSES_PER_SECOND) return false;
      const own = guesses.filter((guess) => guess.network === network).length;
      if (own >= GUESSES_PER_SECOND_OF_ONE) return false;
      guesses = [...guesses, { network, atMs }];
      return true;
    },
    recordSuccess(kind, client) {
      const network = networkOf(client);
      lastLogins[kind].delete(network);
      lastLogins[kind].set(network, clock());
      const [oldest] = lastLogins[kind].keys();
      if (lastLogins[kind].size > MAX_NETWORKS && oldest !== undefined)
        lastLogins[kind].delete(oldest);
    },
  };
}
