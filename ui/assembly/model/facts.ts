/**
 * The feed's data for every page: how many jobs there are, the incidents, when jobs are due. While
 * live updates are paused the newest of each waits, and what is shown stays.
 */
import { hasBuckets } from "../generated/conditions";
import {
  Counts,
  Horizon,
  Incidents,
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
  /** The operation that is at work, else the newest; null: there is none. */
  operation: Operation | null = null;
  /** What actions have done about incidents, by their ids. */
  receipts: Map<string, string> = new Map<string, string>();
  /** The operation whose page was left while it ran: its end is shown as a notice. */
  left: i64 = 0;
  /** When the counts changed last, and those of failed jobs, by this machine's clock. */
  changedAt: f64 = 0;
  failedAt: f64 = 0;
  /** The same by the database's clock: what it read before lacks them. */
  failedAsOf: f64 = 0;
  private known: Set<string> = new Set<string>();
  private waiting: Map<string, string> = new Map<string, string>();

  /** Whether an event of this name has ever come. */
  has(event: string): bool {
    return this.known.has(event);
  }

  /** Stores an event; returns what is wrong with it, or the empty string. Unknown events are ignored. */
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

  /** Keeps an event until `follow`; a newer one takes its place. */
  hold(event: string, json: string): void {
    this.waiting.set(event, json);
  }

  /** Takes in what has waited. */
  follow(): void {
    const events = this.waiting.keys();
    for (let i = 0; i < events.length; i++) this.take(events[i], this.waiting.get(events[i]));
    this.waiting.clear();
  }

  /** The counts have come, in place of these. */
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

  /** How many incidents there are of a kind. */
  incidentsOf(kind: string): i32 {
    const list = this.incidents.incidents;
    let count = 0;
    for (let i = 0; i < list.length; i++) if (list[i].kind === kind) count++;
    return count;
  }

  /** How many jobs have failed, by the newest event. */
  get failed(): i64 {
    return this.has("pulse") ? this.pulse.failed : this.counts.failed.value;
  }
}

/** Whether each of its lists has as many numbers as there are buckets. */
function isWhole(horizon: Horizon): bool {
  const buckets = horizon.edges.length - 1;
  const series = horizon.series;
  return hasBuckets(series, buckets) && horizon.error.length === buckets;
}
