// GET /metrics: the metrics for Prometheus, even while the database does not respond.
import { monotonic, settlesWithin } from "../../../base/clock.ts";
import { codeOf, WorkerError } from "../../../base/errors.ts";
import type { Database } from "../../../database/database.ts";
import { readAcknowledgement } from "../../../insight/controls/acknowledgement.ts";
import { listPauses } from "../../../insight/controls/list-pauses.ts";
import type { Admin, Operation } from "../../context/admin.ts";
import type { MetricsInput, PauseFacts } from "../../feed/metrics-input.ts";

/** The parts of the request's time after which the counts, and then all reads, are cancelled. */
const [COUNTS_SHARE, ALL_SHARE] = [0.75, 0.9];

export const getMetrics: Operation = {
  summary: "Metrics for Prometheus",
  answer: "text/plain",
  run: async (admin) => {
    const { config, databases, feed, metrics, insight } = admin;
    const { requestMs } = config.limits;
    const beganAtMs = monotonic();
    const leftMs = (share: number) => beganAtMs + share * requestMs - monotonic();
    const snapshot = await readSnapshot(admin, leftMs);
    /** null: it failed, or took too long. The other metrics are shown without it. */
    const orNull = async <T>(read: (known: typeof snapshot & object) => Promise<T>) => {
      if (typeof snapshot !== "object") return null;
      const reading = read(snapshot);
      if (!(await settlesWithin(reading, leftMs(ALL_SHARE)))) return null;
      return reading.catch((error: unknown) => {
        if (error instanceof WorkerError) return null;
        throw error;
      });
    };
    const names = await orNull((known) => feed.largest(known, config.limits.metricsNames));
    const limits = await orNull(async (known) => insight.limits(async () => known.names));
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
  leftMs: (share: number) => number,
): Promise<MetricsInput["snapshot"]> {
  const reading = feed.snapshot();
  if (await settlesWithin(reading, leftMs(COUNTS_SHARE))) {
    return reading.catch((error: unknown) => (isAway(error) ? "away" : "unknown"));
  }
  // A slow database answers the check, and one that hangs does not.
  const check = readiness.check();
  if (!(await settlesWithin(check, leftMs(ALL_SHARE)))) return "away";
  return isAway((await check).problem) ? "away" : "unknown";
}

const isAway = (error: unknown) => codeOf(error) === "database_unreachable";

async function pauseFacts(db: Database): Promise<PauseFacts> {
  const [list, { waiting }] = await Promise.all([listPauses(db), readAcknowledgement(db)]);
  return { list, waiting };
}
