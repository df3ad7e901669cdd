/** An error group: its failed and its retrying jobs, merged from two answers of the server. */
import { Group, Groups, readGroups, Value } from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { encode } from "../lib/percent";
import { quote } from "../lib/quoting";
import { Model } from "../model/model";

/** The maximum number of groups in an answer. */
export const MAX_GROUPS: i32 = 100;
const MAX_LABEL_LENGTH = 250;

export class ErrorGroup {
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
    if (this.failed === null) return firstOf(this.retrying);
    // NaN if one of the two times is unknown.
    return this.retrying === null
      ? firstOf(this.failed)
      : min(firstOf(this.failed), firstOf(this.retrying));
  }

  get last(): f64 {
    return -earlier(-lastOf(this.failed), -lastOf(this.retrying));
  }

  /** Whether all failures that the server has read are from the last 15 minutes. */
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

  /** The ids of at most 5 jobs that failed last: failed jobs or, if the group has none, retrying jobs. */
  get samples(): i64[] {
    const failed = this.failed;
    const retrying = this.retrying;
    return failed !== null ? failed.sampleIds : retrying !== null ? retrying.sampleIds : [];
  }

  /** 24 numbers of failures, oldest first: one for each 7.5 minutes of the last 3 hours. Empty if no time is known. */
  get trend(): i64[] {
    const sum: i64[] = [];
    addTrend(sum, this.failed);
    addTrend(sum, this.retrying);
    return sum;
  }

  get query(): string {
    return groupQuery(this.key, this.label);
  }
}

/**
 * Returns the query that finds the jobs of a group. The label is preferred, because the key is a hash: the server may
 * have to find the label of the hash first.
 */
export function groupQuery(key: string, label: string): string {
  const isShort = label.length > 0 && label.length <= MAX_LABEL_LENGTH;
  return "group:" + (isShort ? quote(label) : key);
}

export function groupsPath(query: string): string {
  return `api/groups?by=error&q=${encode(query)}&limit=${MAX_GROUPS}`;
}

/** Whether groups that were read at `asOf` must be requested again. */
export function isOld(m: Model, asOf: f64): bool {
  return !m.facts.has("counts") || !(asOf >= m.facts.counts.asOf);
}

/** The groups in an answer. If the answer cannot be read, `fault` has the reason. */
export class GroupsAnswer {
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

/** Returns the groups of both answers, merged by key. */
export function mergeGroups(failed: Group[], retrying: Group[]): ErrorGroup[] {
  const byKey = new Map<string, ErrorGroup>();
  for (let i = 0; i < failed.length; i++) groupOf(byKey, failed[i]).failed = failed[i];
  for (let i = 0; i < retrying.length; i++) groupOf(byKey, retrying[i]).retrying = retrying[i];
  return byKey.values();
}

function groupOf(byKey: Map<string, ErrorGroup>, group: Group): ErrorGroup {
  if (byKey.has(group.key)) return byKey.get(group.key);
  const merged = new ErrorGroup(group.key, group.label);
  byKey.set(group.key, merged);
  return merged;
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
