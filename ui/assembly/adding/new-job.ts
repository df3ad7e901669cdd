/**
 * Requests what the forms for new jobs and for limits show: the names of tasks and queues, and the job that has the
 * typed job key.
 */
import { countedValue } from "../controls/value";
import { KnownTask, ListedQueue, readKnownTasks, readQueueList } from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { encode } from "../lib/percent";
import { Model } from "../model/model";
import { Pending } from "../model/requests";
import { KeyHolder } from "./key-holder";

const TASKS = ".tasks";
const FOUND = ".found";
const QUEUE = ".queue";
const MAX_TASKS = 100;

export class NewJobFacts {
  /** The first tasks of the whole list. */
  private tasks: KnownTask[] = [];
  /** The tasks that the last answered search has found. */
  private found: KnownTask[] = [];
  private requestedTask: string = "";
  /** The name of the last answered search for tasks. */
  private searched: string = "";
  private holder: KeyHolder;
  private requestedQueue: string = "";
  private answeredQueue: string = "";
  private queues: ListedQueue[] = [];

  constructor(private readonly dialog: string) {
    this.holder = new KeyHolder(dialog + ".key");
  }

  open(m: Model): void {
    m.requests.read(m.access, this.dialog + TASKS, `api/tasks?limit=${MAX_TASKS}`);
  }

  requestTask(m: Model, task: string): void {
    if (task.length === 0 || task.length > 128) return;
    this.requestedTask = task;
    m.requests.read(m.access, this.dialog + FOUND, `api/tasks?limit=20&search=${encode(task)}`);
  }

  /** Requests the queues whose names contain the text; without a text, the first queues by name. */
  requestQueue(m: Model, queue: string): void {
    if (queue.length > 128) return;
    this.requestedQueue = queue;
    const search = queue.length > 0 ? "&search=" + encode(queue) : "";
    m.requests.read(m.access, this.dialog + QUEUE, `api/queues?limit=20&sort=name${search}`);
  }

  requestKey(m: Model, key: string): void {
    this.holder.request(m, key);
  }

  onAnswer(request: Pending, body: string): void {
    const r = new JsonReader(body);
    if (request.topic === this.holder.topic) this.holder.onAnswer(body);
    else if (request.topic.endsWith(QUEUE)) {
      const list = readQueueList(r);
      if (r.failed) return;
      this.queues = list.queues;
      this.answeredQueue = this.requestedQueue;
    } else {
      const known = readKnownTasks(r);
      if (r.failed) return;
      if (request.topic.endsWith(TASKS)) this.tasks = known.tasks;
      else {
        this.found = known.tasks;
        this.searched = this.requestedTask;
      }
    }
  }

  /** Returns the names of tasks for the list of suggestions. */
  names(): string[] {
    const seen = new Set<string>();
    for (let i = 0; i < this.found.length; i++) seen.add(this.found[i].identifier);
    for (let i = 0; i < this.tasks.length; i++) seen.add(this.tasks[i].identifier);
    return seen.values();
  }

  queueNames(): string[] {
    const names: string[] = [];
    for (let i = 0; i < this.queues.length; i++) names.push(this.queues[i].queueName);
    return names;
  }

  /** Returns a hint about the queue, or a general hint. */
  queueNote(queue: string): string {
    const usual = "Jobs of one queue run one at a time, unless a limit allows more.";
    if (queue.length === 0 || this.answeredQueue !== queue) return usual;
    for (let i = 0; i < this.queues.length; i++) {
      const row = this.queues[i];
      if (row.queueName !== queue) continue;
      if (row.stuckSince > 0) return "This queue is stuck.";
      return `${countedValue(row.ready, "job waits", "jobs wait")} there now.`;
    }
    return this.queues.length < 20 ? "The queue is new." : usual;
  }

  /** Returns a warning if it is known that no worker has the task; otherwise empty. */
  warning(task: string): string {
    const known = this.taskNamed(task);
    if (known !== null) {
      return known.isUnsupported === "true" ? `No running worker has the task “${task}”.` : "";
    }
    return task.length === 0 || this.searched !== task
      ? ""
      : `No worker or job has the task “${task}”.`;
  }

  /** If the task is known to be missing, returns the most similar name in `tasks`; empty: none. */
  suggestion(task: string): string {
    const isStrange = task.length > 0 && this.searched === task && this.taskNamed(task) === null;
    return isStrange ? this.like(task) : "";
  }

  /** Returns a note about the job that has the key now. Empty: no answer about `key` has arrived. */
  keyNote(key: string): string {
    return this.holder.note(key);
  }

  /** Returns a note about what the add will do to the job that has the key. Empty: no such job is known. */
  modeNote(key: string, mode: string): string {
    const holder = this.holder.of(key);
    if (holder === null) return "";
    const job = `#${holder.id}`;
    if (mode === "unsafe-dedupe") return `${job} stays as it is. Nothing is added.`;
    // A locked job may have begun before the add, and a failed job does not run again.
    if (holder.state === "locked" || holder.state === "failed")
      return `${job} loses the key, and a new job is added.`;
    const time = mode === "preserve-run-at" && holder.attempts === 0 ? "" : " and time";
    return `${job} gets this payload${time}. Its attempts are reset.`;
  }

  private taskNamed(task: string): KnownTask | null {
    for (let i = 0; i < this.tasks.length; i++) {
      if (this.tasks[i].identifier === task) return this.tasks[i];
    }
    for (let i = 0; i < this.found.length; i++) {
      if (this.found[i].identifier === task) return this.found[i];
    }
    return null;
  }

  /**
   * Returns the name in `tasks` that is most similar to `task`; empty: none. The distance() of the two names is at most
   * two, and at most half the length of `task`.
   */
  private like(task: string): string {
    let best = "";
    let least = min(3, task.length / 2 + 1);
    for (let i = 0; i < this.tasks.length; i++) {
      const name = this.tasks[i].identifier;
      if (abs(name.length - task.length) >= least) continue;
      const far = distance(name, task);
      if (far >= least) continue;
      least = far;
      best = name;
    }
    return best;
  }
}

/**
 * Returns the least number of steps from one text to the other. A step changes, adds or removes a letter, or swaps two
 * neighbouring letters.
 */
function distance(one: string, other: string): i32 {
  const width = other.length + 1;
  const table = new StaticArray<i32>((one.length + 1) * width);
  for (let i = 0; i <= one.length; i++) {
    for (let j = 0; j < width; j++) {
      const at = i * width + j;
      if (i === 0 || j === 0) {
        table[at] = i + j;
        continue;
      }
      const same = one.charCodeAt(i - 1) === other.charCodeAt(j - 1);
      let least = table[at - width - 1] + (same ? 0 : 1);
      least = min(least, min(table[at - width], table[at - 1]) + 1);
      const swapped =
        i > 1 &&
        j > 1 &&
        one.charCodeAt(i - 1) === other.charCodeAt(j - 2) &&
        one.charCodeAt(i - 2) === other.charCodeAt(j - 1);
      if (swapped) least = min(least, table[at - 2 * width - 2] + 1);
      table[at] = least;
    }
  }
  return table[one.length * width + other.length];
}
