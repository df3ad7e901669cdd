/** What the form of a new job asks the server while it is filled in: which tasks there are, who has the key. */
import { KnownTask, ListedJob, readJobList, readKnownTasks } from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { quote } from "../lib/json-writer";
import { encode } from "../lib/percent";
import { visible } from "../lib/visible";
import { Model } from "../model/model";
import { Pending } from "../model/requests";

const TASKS = "add.tasks";
const FOUND = "add.found";
const KEY = "add.key";
const MOST_TASKS = 100;

export class NewJobFacts {
  /** The first tasks of all, and those that a search found. */
  private tasks: KnownTask[] = [];
  private found: KnownTask[] = [];
  private searched: string = "";
  private holder: ListedJob | null = null;
  private keyAsked: string = "";

  open(m: Model): void {
    m.requests.read(m.access, TASKS, `api/tasks?limit=${MOST_TASKS}`);
  }

  askTask(m: Model, task: string): void {
    if (task.length === 0 || task.length > 128) return;
    m.requests.read(m.access, FOUND, `api/tasks?limit=20&search=${encode(task)}`);
  }

  askKey(m: Model, key: string): void {
    this.keyAsked = "";
    this.holder = null;
    if (key.length === 0 || key.length > 512) return;
    m.requests.read(m.access, KEY, `api/jobs?fields=row&limit=1&q=${encode("key:" + quote(key))}`);
  }

  take(request: Pending, body: string, task: string, key: string): void {
    const r = new JsonReader(body);
    if (request.topic === KEY) {
      const list = readJobList(r);
      this.keyAsked = key;
      this.holder = !r.failed && list.jobs.length > 0 ? list.jobs[0] : null;
      return;
    }
    const known = readKnownTasks(r);
    if (r.failed) return;
    if (request.topic === TASKS) this.tasks = known.tasks;
    else {
      this.found = known.tasks;
      this.searched = task;
    }
  }

  /** For the list of suggestions. */
  names(): string[] {
    const seen = new Set<string>();
    for (let i = 0; i < this.found.length; i++) seen.add(this.found[i].identifier);
    for (let i = 0; i < this.tasks.length; i++) seen.add(this.tasks[i].identifier);
    return seen.values();
  }

  /** What is to be warned of about a task's name; the empty string: nothing, or not yet known. */
  warning(task: string): string {
    const known = this.taskNamed(task);
    if (known !== null) {
      return known.isUnsupported === "true" ? `No worker alive knows “${visible(task)}”.` : "";
    }
    if (task.length === 0 || this.searched !== task) return "";
    const like = this.like(task);
    const meant = like.length > 0 ? ` Did you mean “${visible(like)}”?` : "";
    return `No task “${visible(task)}” has been seen here.${meant}`;
  }

  /** Who has the key now, and what becomes of it. */
  keyNote(key: string, mode: string): string {
    if (key.length === 0 || this.keyAsked !== key) return "";
    const holder = this.holder;
    if (holder === null) return "No job has this key now.";
    const who = `Job #${holder.id} (${holder.state}) has this key`;
    if (mode === "unsafe-dedupe") return `${who}: it stays as it is, and nothing is added.`;
    if (holder.state === "locked") return `${who}: it loses it, and a new job is added.`;
    const time =
      mode === "preserve-run-at" ? "this payload and keeps its time" : "this payload and time";
    return `${who}: it gets ${time}, and its tries go back to 0.`;
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

  /** The name that is least far from it, if that is a slip of the finger or two. */
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

/** How many letters must change, come, go or swap with their neighbour. */
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
