// Slows down guessing without ever keeping the operator out: right credentials are admitted at once,
// whoever guesses beside them. A wrong answer waits a second; so many may wait at once, a client and in
// all, and whoever is wrong beyond that hears 429 without waiting. What protects the secret is its length.
import { wait } from "../../base/clock.ts";
import { networkOf } from "../../http/bounds/client-address.ts";
import { createWork } from "../../http/bounds/work.ts";

export interface LoginThrottle {
  /** True after the wait for a wrong answer; false at once where too many wait already. */
  delay(client: string, signal: AbortSignal): Promise<boolean>;
}

const MOST_WAITING = 64;
const MOST_WAITING_PER_CLIENT = 8;

export function createLoginThrottle({ waitMs }: { readonly waitMs: number }): LoginThrottle {
  const waiting = createWork(MOST_WAITING, MOST_WAITING_PER_CLIENT);
  return {
    async delay(client, signal) {
      const leave = waiting.enter(networkOf(client));
      if (leave === null) return false;
      await wait(waitMs, signal);
      leave();
      return true;
    },
  };
}
