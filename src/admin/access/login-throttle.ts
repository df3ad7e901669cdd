// Slows down guessing. Of networks from which no login has come for an hour so few credentials a second are
// compared that only short secrets are found; the others are refused without being compared, so their
// answer says nothing about them. A network that has logged in is not slowed down.
import { monotonic } from "../../base/clock.ts";
import { networkOf } from "../../http/bounds/client-address.ts";

/** A scraper's token opens less than a login: it says nothing about who may guess at the login's secret. */
export type LoginKind = "login" | "metrics";

export interface LoginThrottle {
  /** Whether credentials of that kind have come from the client's network within an hour. */
  isKnown(kind: LoginKind, client: string): boolean;
  /** Whether what the client offers may be compared now; it counts as a guess unless its login is known. */
  mayCompare(client: string): boolean;
  /** Right credentials have come from there. */
  accepted(kind: LoginKind, client: string): void;
}

const GUESSES_PER_SECOND = 64;
const GUESSES_PER_SECOND_OF_ONE = 8;
const SECOND_MS = 1_000;
const KNOWN_MS = 3_600_000;
/** Of each kind; the one that was heard of longest ago makes room. */
const MOST_KNOWN = 10_000;

interface Guess {
  readonly network: string;
  readonly atMs: number;
}

export function createLoginThrottle(clock: () => number = monotonic): LoginThrottle {
  /** Of the last second, the oldest first. */
  let guesses: readonly Guess[] = [];
  /** Network → when it was last heard of, the oldest first. */
  const known: Readonly<Record<LoginKind, Map<string, number>>> = {
    login: new Map(),
    metrics: new Map(),
  };

  const isKnown = (kind: LoginKind, client: string) => {
    const heardMs = known[kind].get(networkOf(client));
    return heardMs !== undefined && clock() - heardMs < KNOWN_MS;
  };

  return {
    isKnown,
    mayCompare(client) {
      if (isKnown("login", client)) return true;
      const network = networkOf(client);
      const atMs = clock();
      guesses = guesses.filter((guess) => atMs - guess.atMs < SECOND_MS);
      if (guesses.length >= GUESSES_PER_SECOND) return false;
      const own = guesses.filter((guess) => guess.network === network).length;
      if (own >= GUESSES_PER_SECOND_OF_ONE) return false;
      guesses = [...guesses, { network, atMs }];
      return true;
    },
    accepted(kind, client) {
      const network = networkOf(client);
      known[kind].delete(network);
      known[kind].set(network, clock());
      const [oldest] = known[kind].keys();
      if (known[kind].size > MOST_KNOWN && oldest !== undefined) known[kind].delete(oldest);
    },
  };
}
