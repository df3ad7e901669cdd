// Clients that add jobs by HTTP requests to an admin. Each job has its own key. A failed write is repeated once, as a
// user would do. With the keys in `acknowledged`, the caller can check that no acknowledged job is lost.
import { setTimeout as sleep } from "node:timers/promises";

export const PASSWORD = "a-password-of-the-faults";

const LOGIN = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString("base64")}`;
const ANSWER_LIMIT_MS = 10_000;
/** The delay before a failed write is repeated. A user needs about this time to press the button again. */
const AGAIN_AFTER_MS = 250;

export interface Writers {
  /** The keys of acknowledged jobs. */
  readonly acknowledged: ReadonlySet<string>;
  /** The number of writes that were sent a second time. */
  readonly retried: number;
  /** For each write that failed twice, the key and the problem of the second attempt. */
  readonly failed: readonly string[];
  stop(): Promise<void>;
}

/**
 * Starts `count` writers. `url`: the address of one admin, or of a proxy. `pauseMs`: the pause of a writer after each
 * acknowledged write.
 */
export function startWriters(url: string, count: number, pauseMs = 10): Writers {
  const acknowledged = new Set<string>();
  const failed: string[] = [];
  const over = new AbortController();
  let retried = 0;
  let token: string | null = null;
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, {
      ...init,
      headers: { authorization: LOGIN, "content-type": "application/json", ...init.headers },
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    });
  /** Sends one write. Returns the problem; null if the write was acknowledged. */
  const write = async (key: string): Promise<string | null> => {
    try {
      token ??= ((await (await ask("/api/session")).json()) as { csrf_token: string }).csrf_token;
      const body = JSON.stringify({ identifier: "written", key });
      const headers = { "x-worker-admin-csrf": token };
      const answer = await ask("/api/jobs", { method: "POST", body, headers });
      const text = await answer.text();
      return answer.ok ? null : `${answer.status} ${text.slice(0, 200)}`;
    } catch (error) {
      return String((error as Error).cause ?? error);
    }
  };
  const one = async (writer: number) => {
    for (let n = 0; !over.signal.aborted; n++) {
      const key = `${writer}-${n}`;
      if ((await write(key)) !== null) {
        retried += 1;
        await sleep(AGAIN_AFTER_MS);
        const problem = await write(key);
        if (problem !== null) {
          failed.push(`${key}: ${problem}`);
          continue;
        }
      }
      acknowledged.add(key);
      await sleep(pauseMs);
    }
  };
  const all = Promise.all(Array.from({ length: count }, (_, writer) => one(writer)));
  return {
    acknowledged,
    failed,
    get retried() {
      return retried;
    },
    async stop() {
      over.abort();
      await all;
    },
  };
}
