// Slows down guessing: every client address may fail `BURST` times at once and then once in
// `REFILL_MS`. While it has used that up, right credentials wait too: else guessing would go on
// and only the right guess would show. Nor does a success forgive anything: behind a proxy the
// guesser and the operator are one address. The table is bounded; the oldest entry goes first.
import { isIP } from "node:net";
import { monotonic } from "../../base/clock.ts";

const BURST = 20;
const REFILL_MS = 6_000;
const MAX_CLIENTS = 10_000;

export interface LoginThrottle {
  /** Seconds until this client may try again; 0 when it may now. */
  delay_s(address: string): number;
  failed(address: string): void;
}

export function createLoginThrottle(clock: () => number = monotonic): LoginThrottle {
  // Client → the time at which all its failures are forgiven.
  const debts = new Map<string, number>();

  const debtMs = (client: string) => Math.max(0, (debts.get(client) ?? 0) - clock());

  return {
    delay_s(address) {
      const excess = debtMs(clientOf(address)) - (BURST - 1) * REFILL_MS;
      return excess > 0 ? Math.ceil(excess / 1_000) : 0;
    },
    failed(address) {
      const client = clientOf(address);
      const forgiven = clock() + debtMs(client) + REFILL_MS;
      debts.delete(client);
      debts.set(client, forgiven);
      const [oldest] = debts.keys();
      if (debts.size > MAX_CLIENTS && oldest !== undefined) debts.delete(oldest);
    },
  };
}

/** One subscriber has a whole IPv6 /64; IPv4-mapped addresses are IPv4. */
function clientOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  if (isIP(plain) !== 6) return plain;
  const [head = "", tail] = plain.split("::");
  const groups = head === "" ? [] : head.split(":");
  const rest = tail === undefined || tail === "" ? [] : tail.split(":");
  if (tail !== undefined) {
    while (groups.length + rest.length < 8) groups.push("0");
  }
  return [...groups, ...rest].slice(0, 4).join(":");
}
