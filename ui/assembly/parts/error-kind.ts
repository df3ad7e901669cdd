/**
 * An error group: its failed and its retrying jobs, merged from the two
 * answers of the server about them. Every page uses the same requests, so that they are read once.
 */
import { Group, Groups, readGroups, Value } from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { encode } from "../lib/percent";
import { quoted } from "../lib/quoting";
import { Model } from "../model/model";

/** The server gives no more of them. */
export const MOST_KINDS: i32 = 100;
/** A query takes no longer text. */
const LONGEST_LABEL = 250;

export class ErrorKind {
  failed: Group | null = null;
  retrying: Group | null = null;

  constructor(
    readonly key: string,
    readonly label: string,
  ) {}

  get failedCount(): i64 {
    return countOf(this.failed);
  }

  get retryingCount(): i64 {
    return countOf(this.retrying);
  }

  get first(): f64 {
    return earlier(firstOf(this.failed), firstOf(this.retrying));
  }

  get last(): f64 {
    return -earlier(-lastOf(this.failed), -lastOf(this.retrying));
  }

  /** Nothing of it is older than a quarter of an hour. */
  get isNew(): bool {
    const failed = this.failed;
    const retrying = this.retrying;
    return (failed === null || failed.isNew) && (retrying === null || retrying.isNew);
  }

  get tasks(): string[] {
    const names = new Set<string>();
    addTasks(names, this.failed);
    addTasks(names, this.retrying);
    return names.values();
  }

  /** The jobs that were read last. */
  get samples(): i64[] {
    const failed = this.failed;
    const retrying = this.retrying;
    return failed !== null ? failed.sampleIds : retrying !== null ? retrying.sampleIds : [];
  }

  /** Failures of the last 3 hours, by 24ths. */
  get trend(): i64[] {
    const sum: i64[] = [];
    addTrend(sum, this.failed);
    addTrend(sum, this.retrying);
    return sum;
  }

  /** The query that finds its jobs. */
  get query(): string {
    return kindQuery(this.key, this.label);
  }
}

/** The query that finds the jobs of a kind; by the label less has to be read than by the fingerprint. */
export function kindQuery(key: string, label: string): string {
  const isShort = label.length > 0 && label.length <= LONGEST_LABEL;
  return "group:" + (isShort ? quoted(label) : key);
}

export function kindsPath(query: string): string {
  return `api/groups?by=error&q=${encode(query)}&limit=${MOST_KINDS}`;
}

/** Whether the counts have changed since an answer about groups: then it is requested again. */
export function isOld(m: Model, asOf: f64): bool {
  return !m.facts.has("counts") || !(asOf >= m.facts.counts.asOf);
}

/** An answer about kinds, or null and why. */
export class ReadKinds {
  fault: string = "";
  groups: Groups = Groups.empty();

  constructor(body: string) {
    const r = new JsonReader(body);
    const groups = readGroups(r);
    r.end();
    if (r.failed) this.fault = r.error;
    else this.groups = groups;
  }
}

/** The kinds of both answers, those with more failed jobs first. */
export function joined(failed: Group[], retrying: Group[]): ErrorKind[] {
  const byKey = new Map<string, ErrorKind>();
  for (let i = 0; i < failed.length; i++) kindOf(byKey, failed[i]).failed = failed[i];
  for (let i = 0; i < retrying.length; i++) kindOf(byKey, retrying[i]).retrying = retrying[i];
  return byKey.values();
}

function kindOf(byKey: Map<string, ErrorKind>, group: Group): ErrorKind {
  if (byKey.has(group.key)) return byKey.get(group.key);
  const kind = new ErrorKind(group.key, group.label);
  byKey.set(group.key, kind);
  return kind;
}

export function valueOf(group: Group | null): Value {
  if (group !== null) return group.count;
  const none = Value.empty();
  none.precision = "exact";
  return none;
}

function countOf(group: Group | null): i64 {
  return group === null ? 0 : group.count.value;
}

function firstOf(group: Group | null): f64 {
  return group === null ? NaN : group.firstSeen;
}

function lastOf(group: Group | null): f64 {
  return group === null ? NaN : group.lastSeen;
}

function earlier(a: f64, b: f64): f64 {
  return isNaN(a) ? b : isNaN(b) ? a : min(a, b);
}

function addTasks(names: Set<string>, group: Group | null): void {
  if (group === null) return;
  for (let i = 0; i < group.tasks.length; i++) names.add(group.tasks[i]);
}

function addTrend(sum: i64[], group: Group | null): void {
  if (group === null) return;
  for (let i = 0; i < group.trend.length; i++) {
    if (i < sum.length) sum[i] += group.trend[i];
    else sum.push(group.trend[i]);
  }
}
