// GET /metrics: the metrics for Prometheus. The route answers even while the database does not respond.
import { monotonic, settlesWithin } from "../../../base/clock.ts";
import { codeOf, WorkerError } from "../../../base/errors.ts";
import type { Database } from "../../../database/database.ts";
import { readAcknowledgement } from "../../../insight/controls/acknowledgement.ts";
import { listPauses } from "../../../insight/controls/list-pauses.ts";
import type { Admin, Operation } from "../../context/admin.ts";
import type { MetricsInput, PauseFacts } from "../../feed/metrics-input.ts";

/**
 * Two shares of the request's time limit. After the first, the request no longer waits for the counts; after the
 * second, it waits for no read.
 */
const [COUNTS_SHARE, ALL_SHARE] = [0.75, 0.9];

export const getMetrics: Operation = {
  summary: "Metrics for Prometheus",
  answer: "text/plain",
  run: async (admin) => {
    const { config, databases, feed, metrics, insight } = admin;
    const { requestMs } = config.limits;
    const beganAtMs = monotonic();
    const remainingMs = (share: number) => beganAtMs + share * requestMs - monotonic();
    const snapshot = await readSnapshot(admin, remainingMs);
    /** Returns the result of a read; null if there is no snapshot, or if the read has failed or takes too long. */
    const orNull = async <T>(read: (found: typeof snapshot & object) => Promise<T>) => {
      if (typeof snapshot !== "object") return null;
      const reading = read(snapshot);
      if (!(await settlesWithin(reading, remainingMs(ALL_SHARE)))) return null;
      return reading.catch((error: unknown) => {
        if (error instanceof WorkerError) return null;
        throw error;
      });
    };
    const names = await orNull((found) => feed.largest(found, config.limits.metricsNames));
    const limits = await orNull(async (found) => insight.limits(async () => found.names));
    const pauses = await orNull(() => pauseFacts(databases.feed));
    const exposed = { snapshot, names, pauses, limits: limits?.uses ?? null, feed };
    return {
      status: 200,
      headers: { "content-type": metrics.contentType },
      body: await metrics.expose({ ...exposed, pool: config.pool }),
    };
  },
};

async function readSnapshot(
  { feed, readiness }: Admin,
  remainingMs: (share: number) => number,
): Promise<MetricsInput["snapshot"]> {
  const reading = feed.snapshot();
  if (await settlesWithin(reading, remainingMs(COUNTS_SHARE))) {
    return reading.catch((error: unknown) => (isUnreachable(error) ? "away" : "unknown"));
  }
  // The counts are late. The check shows whether the database is only slow, or does not respond.
  const check = readiness.check();
  if (!(await settlesWithin(check, remainingMs(ALL_SHARE)))) return "away";
  return isUnreachable((await check).problem) ? "away" : "unknown";
}

const isUnreachable = (error: unknown) => codeOf(error) === "database_unreachable";

async function pauseFacts(db: Database): Promise<PauseFacts> {
  const [list, { waiting }] = await Promise.all([listPauses(db), readAcknowledgement(db)]);
  return { list, waiting };
}
