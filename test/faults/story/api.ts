// The API of the story (run.ts): an HTTP server that serves at most `perSecond` requests in a second and answers 429
// to all further requests.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { mostAtOnce, mostWithin, type Span } from "../../worker/most.ts";

/**
 * The parameters of a request. `tenant` is the name of the job's queue. `by` is the worker; the Graphile worker has the
 * name `stock`.
 */
export interface Call {
  readonly job: string;
  readonly tenant: string;
  readonly by: string;
}

export interface Api extends AsyncDisposable {
  readonly url: string;
  readonly served: number;
  readonly refused: number;
  seen(): Seen;
}

export interface Seen {
  readonly served: number;
  readonly refused: number;
  /** The number of served requests whose job had been served before. */
  readonly twice: number;
  readonly mostServedInASecond: number;
  readonly mostOfATenant: number;
  /** The number of requests that workers of this library sent during a back-off. */
  readonly whileBackingOff: number;
  /** Requests of the Graphile worker: `early` in the first MANAGED_MS, `late` after that time. `late` should be 0. */
  readonly byStock: { readonly early: number; readonly late: number };
  /** The time from the first request to the last request, in milliseconds. */
  readonly tookMs: number;
}

const SECOND_MS = 1_000;
const RETRY_AFTER_S = 2;
/**
 * The milliseconds at the beginning and at the end of a back-off in which `whileBackingOff` counts no requests. At the
 * beginning, a worker may not have read the back-off yet.
 */
const NOTICED_MS = 250;
/**
 * The time from the first request until every queue should have its slots (docs/limits.md). Graphile workers get no
 * jobs of a queue that has slots.
 */
const MANAGED_MS = 2_000;
/** The least and the greatest duration of a served request. */
const TAKES_MS = [100, 300] as const;

export async function startApi(perSecond: number): Promise<Api> {
  const spans: (Span & { to: number })[] = [];
  const served: { readonly at: number; readonly job: string }[] = [];
  const refused: { readonly at: number; readonly by: string }[] = [];
  const answer = async (call: Call, response: ServerResponse) => {
    const at = performance.now();
    const span = { n: call.tenant, by: call.by, from: at, to: Number.POSITIVE_INFINITY };
    spans.push(span);
    response.on("close", () => {
      span.to = performance.now();
    });
    const recent = served.slice(-perSecond).filter((one) => one.at > at - SECOND_MS);
    if (recent.length >= perSecond) {
      refused.push({ at, by: call.by });
      response.writeHead(429, "Too Many Requests", { "Retry-After": RETRY_AFTER_S }).end();
      return;
    }
    served.push({ at, job: call.job });
    const [least, most] = TAKES_MS;
    await sleep(least + Math.random() * (most - least));
    span.to = performance.now();
    response.end("ok");
  };
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? "", "http://api");
    const value = (name: string) => searchParams.get(name) ?? "";
    void answer({ job: value("job"), tenant: value("tenant"), by: value("by") }, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    get served() {
      return served.length;
    },
    get refused() {
      return refused.length;
    },
    seen() {
      const starts = spans.map(({ from }) => from);
      // The Graphile worker does not apply back-offs of tasks, and a 429 to the Graphile worker causes no back-off.
      const ours = spans.filter(({ by }) => by !== "stock");
      const known = refused.filter(({ by }) => by !== "stock").map(({ at }) => at);
      const byStock = spans.filter(({ by }) => by === "stock").map(({ from }) => from);
      const managedAt = (starts[0] ?? 0) + MANAGED_MS;
      const tenants = [...Map.groupBy(spans, ({ n }) => n).values()];
      return {
        served: served.length,
        refused: refused.length,
        twice: served.length - new Set(served.map(({ job }) => job)).size,
        mostServedInASecond: mostWithin(
          served.map(({ at }) => at),
          SECOND_MS,
        ).most,
        mostOfATenant: Math.max(0, ...tenants.map((own) => mostAtOnce(own).most)),
        whileBackingOff: ours.filter(({ from }) => isBackingOff(from, known)).length,
        byStock: {
          early: byStock.filter((at) => at <= managedAt).length,
          late: byStock.filter((at) => at > managedAt).length,
        },
        tookMs: (starts.at(-1) ?? 0) - (starts[0] ?? 0),
      };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Whether `at` is within a back-off, without its first and last NOTICED_MS. `refused`: sorted times of the 429s. */
function isBackingOff(at: number, refused: readonly number[]): boolean {
  const index = refused.findLastIndex((one) => one + NOTICED_MS < at);
  const last = refused[index];
  return last !== undefined && at < last + RETRY_AFTER_S * SECOND_MS - NOTICED_MS;
}
