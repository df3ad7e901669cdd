// Logs requests that were refused for one of the reasons in RefusalKind. The lines per minute are limited, for each
// network and in total, so that clients cannot fill the log. If requests were not logged because of these limits, a
// summary at the end of the minute counts them.
import { type Clock, systemClock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { networkOf } from "../../http/bounds/client-address.ts";

export type RefusalKind = "wrong_login" | "throttled_login" | "csrf" | "host" | "proxy";

export interface RefusalLog {
  log(kind: RefusalKind, client: string, fields: Readonly<Record<string, unknown>>): void;
  /** Ends the current minute, and logs its summary if requests were not logged. */
  close(): void;
}

const sentences: Readonly<Record<RefusalKind, string>> = {
  wrong_login: "wrong credentials",
  throttled_login: "too many logins at once: these credentials were not checked",
  csrf: "a request from another site, or without the CSRF token, was refused",
  host: "a request for another host was refused",
  proxy: "a request through a proxy was refused: mode none serves this machine only",
};

const LINES_A_CLIENT = 10;
const LINES_IN_ALL = 60;
const WINDOW_MS = 60_000;
/** The maximum number of networks that a summary names. It names the networks with the most requests. */
const MAX_NAMED = 5;
/** The maximum size of `byClient`. If it is exceeded, the network whose last request is the oldest is removed. */
const MAX_NETWORKS = 1_000;

export function createRefusalLog(
  logger: Logger,
  after: Clock["after"] = systemClock.after,
): RefusalLog {
  let lines = 0;
  let stopWindow: (() => void) | null = null;
  /** A map from a network to the number of its requests in this minute, ordered by each network's last request. */
  const byClient = new Map<string, number>();
  let isCut = false;
  const unlogged = { total: 0, kinds: new Map<RefusalKind, number>() };

  const count = <K>(counts: Map<K, number>, key: K) => {
    const n = (counts.get(key) ?? 0) + 1;
    counts.delete(key);
    counts.set(key, n);
    return n;
  };

  const countClient = (client: string) => {
    const n = count(byClient, networkOf(client));
    const [oldest] = byClient.keys();
    if (byClient.size > MAX_NETWORKS && oldest !== undefined) isCut = byClient.delete(oldest);
    return n;
  };

  const endWindow = () => {
    stopWindow?.();
    stopWindow = null;
    if (unlogged.total > 0) {
      const busiest = [...byClient].sort(([, a], [, b]) => b - a).slice(0, MAX_NAMED);
      const fields = {
        more: unlogged.total,
        kinds: Object.fromEntries(unlogged.kinds),
        clients: isCut ? `more than ${MAX_NETWORKS}` : byClient.size,
        busiest: Object.fromEntries(busiest),
      };
      logger.warn(fields, "further requests were refused in the last minute");
    }
    lines = 0;
    byClient.clear();
    isCut = false;
    unlogged.total = 0;
    unlogged.kinds.clear();
  };

  return {
    log(kind, client, fields) {
      stopWindow ??= after(WINDOW_MS, endWindow);
      if (countClient(client) <= LINES_A_CLIENT && lines < LINES_IN_ALL) {
        lines += 1;
        logger.warn({ ...fields, refused: kind }, sentences[kind]);
        return;
      }
      unlogged.total += 1;
      count(unlogged.kinds, kind);
    },
    close: endWindow,
  };
}
