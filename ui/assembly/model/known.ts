/** What one page has read and another one can use until it has asked for itself. */
import { ListedJob, Overview } from "../generated/records";

/** A list of suggestions longer than this helps nobody. */
const MOST_SUGGESTIONS = 200;

export class Known {
  /** The jobs that stand in the list. */
  listed: ListedJob[] = [];
  /** The jobs that failed last. */
  failing: ListedJob[] = [];
  /** Where the list of jobs was left, and the ids of the jobs in it in their order. */
  listPath: string = "/jobs";
  listIds: i64[] = [];
  /** The one job that is shown whole, and the one that a new job is to be like, with its payload. */
  shown: ListedJob | null = null;
  template: ListedJob | null = null;

  /** Forgets what was read; where the list was left is no secret. */
  clear(): void {
    this.listed = [];
    this.failing = [];
    this.listIds = [];
    this.shown = null;
    this.template = null;
  }

  /** Where a job stands in the list that it was opened from, from 0 on; -1: not in it. */
  placeOf(id: i64): i32 {
    return this.listIds.indexOf(id);
  }

  job(id: i64): ListedJob | null {
    for (let i = 0; i < this.listed.length; i++) {
      if (this.listed[i].id === id) return this.listed[i];
    }
    return null;
  }

  /** The tasks seen so far: the API has no list of them. */
  tasks(): string[] {
    const seen = new Set<string>();
    for (let i = 0; i < this.listed.length && seen.size < MOST_SUGGESTIONS; i++) {
      const task = this.listed[i].taskIdentifier;
      if (task !== null) seen.add(task);
    }
    for (let i = 0; i < this.failing.length; i++) {
      const task = this.failing[i].taskIdentifier;
      if (task !== null) seen.add(task);
    }
    return seen.values().sort();
  }
}

export function queueNames(overview: Overview): string[] {
  const names: string[] = [];
  const queues = overview.queues;
  for (let i = 0; i < min(queues.length, MOST_SUGGESTIONS); i++) names.push(queues[i].queueName);
  return names;
}
