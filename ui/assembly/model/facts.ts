/** The data that every page can read: the data of the server's feed, and some data of pages and dialogs. */
import { hasBuckets } from "../generated/conditions";
import {
  Counts,
  Horizon,
  Incidents,
  ListedLimit,
  Operation,
  Pulse,
  readCounts,
  readHorizon,
  readIncidents,
  readOperation,
  readPulse,
} from "../generated/records";
import { JsonReader } from "../lib/json-reader";

export class Facts {
  counts: Counts = Counts.empty();
  pulse: Pulse = Pulse.empty();
  incidents: Incidents = Incidents.empty();
  horizon: Horizon = Horizon.empty();
  /** The operation that runs or is being undone; if there is none, usually the newest operation. Null: none known. */
  operation: Operation | null = null;
  limits: ListedLimit[] = [];
  /** The results of actions on incidents as sentences, by the incidents' ids. */
  receipts: Map<string, string> = new Map<string, string>();
  /** The id of a running operation whose page is not open, so that a notice has to show its end; 0: none. */
  left: i64 = 0;
  /** When counts or an event of an operation last arrived, by this machine's clock. Counts in a pause are ignored. */
  changedAt: f64 = 0;
  /** When counts last arrived that showed a possible change of the failed jobs, by this machine's clock. */
  failedAt: f64 = 0;
  /** When the server read the counts of `failedAt`, by PostgreSQL's clock. Earlier data may lack failures. */
  failedAsOf: f64 = 0;
  private known: Set<string> = new Set<string>();
  private waiting: Map<string, string> = new Map<string, string>();

  /** Whether data of this event were taken at least once. */
  has(event: string): bool {
    return this.known.has(event);
  }

  /** Takes the data of an event. Returns "", or the reason why the data cannot be read. */
  take(event: string, json: string): string {
    const r = new JsonReader(json);
    if (event === "counts") {
      const counts = readCounts(r);
      r.end();
      if (!r.failed) this.counts = counts;
    } else if (event === "pulse") {
      const pulse = readPulse(r);
      r.end();
      if (!r.failed) this.pulse = pulse;
    } else if (event === "incidents") {
      const incidents = readIncidents(r);
      r.end();
      if (incidents.verdict.length === 0) r.fail("there is no verdict");
      if (!r.failed) this.incidents = incidents;
    } else if (event === "horizon") {
      const horizon = readHorizon(r);
      r.end();
      if (!isWhole(horizon)) r.fail("its parts do not match");
      if (!r.failed) this.horizon = horizon;
    } else if (event === "operation") {
      const isNone = r.takeNull();
      const operation = isNone ? Operation.empty() : readOperation(r);
      r.end();
      if (!r.failed) this.operation = isNone ? null : operation;
    } else return "";
    if (r.failed) return `The server's ${event} can't be read: ${r.error}`;
    this.known.add(event);
    return "";
  }

  /** During a pause of live updates, keeps the newest event of each name until follow(). */
  store(event: string, json: string): void {
    this.waiting.set(event, json);
  }

  follow(): void {
    const events = this.waiting.keys();
    for (let i = 0; i < events.length; i++) this.take(events[i], this.waiting.get(events[i]));
    this.waiting.clear();
  }

  /** Called after new counts were taken. `before`: the previous counts. */
  noteChanges(before: Counts, now: f64): void {
    const after = this.counts;
    this.changedAt = now;
    const isSame =
      after.failed.precision === "exact" &&
      after.failed.value === before.failed.value &&
      after.lastFailedAt === before.lastFailedAt;
    if (isSame) return;
    this.failedAt = now;
    this.failedAsOf = after.asOf;
  }

  incidentsOf(kind: string): i32 {
    const list = this.incidents.incidents;
    let count = 0;
    for (let i = 0; i < list.length; i++) if (list[i].kind === kind) count++;
    return count;
  }

  /** The number of failed jobs. */
  get failed(): i64 {
    return this.has("pulse") ? this.pulse.failed : this.counts.failed.value;
  }
}

/** Whether each list of the horizon has a number for each bucket. */
function isWhole(horizon: Horizon): bool {
  const buckets = horizon.edges.length - 1;
  const series = horizon.series;
  return hasBuckets(series, buckets) && horizon.error.length === buckets;
}
