/**
 * The view of one job, on the page `job` or beside a list. In both cases, the page `job` passes answers and actions to
 * the view. `head` reads the job's row, and `why` reads the explanation of the job's condition.
 *
 *   open(id) ─▶ head + why ─▶ refresh(): why after 3 to 15 s; head if why has changed, or after 1 to 2 min
 *                  └─ 404 for a job that was shown ─▶ the job has ended: the view keeps the last state of the job,
 *                                                     and requests recent writes
 */
import { addCommand } from "../adding/add-line";
import { jobActionNamed } from "../generated/commands";
import {
  AuditEntry,
  ListedJob,
  readActivity,
  readListedJob,
  readWhy,
  Why,
} from "../generated/records";
import { after, copy, download, navigate, pageUrl } from "../host";
import { ServerData } from "../kit/server-data";
import { JsonReader } from "../lib/json-reader";
import { replaced } from "../lib/letters";
import { jobPath } from "../model/links";
import { Model } from "../model/model";
import { Pending } from "../model/requests";
import { ErrorPanel } from "../parts/error-panel";
import { commandOf } from "./command";
import { Comparison } from "./comparison";
import { Payload } from "./payload";

/**
 * The shortest intervals between requests for the explanation. UNCHANGED_MS applies while Facts.changedAt is before the
 * last request. Even then, the explanation may have changed.
 */
const WHY_MS: f64 = 3000;
const UNCHANGED_MS: f64 = 15000;
const HEAD_MS: f64 = 60000;
const MAX_READ = 100;

export class JobView {
  id: i64 = 0;
  job: ListedJob | null = null;
  why: Why | null = null;
  /** When the page noticed that the job had ended. */
  endedAt: f64 = NaN;
  /** The recorded write that deleted the job; null: none was found. */
  receipt: AuditEntry | null = null;
  readonly head: ServerData = new ServerData("job.head");
  readonly explained: ServerData = new ServerData("job.why");
  private recorded: ServerData = new ServerData("job.activity");
  payload: Payload = new Payload();
  comparison: Comparison = new Comparison();
  error: ErrorPanel = new ErrorPanel("job", "Last error");
  /** The server's answer with the job and the whole payload; empty: not loaded. */
  private json: string = "";

  /** Shows a job, and requests its data. */
  open(m: Model, id: i64): void {
    if (id !== this.id) this.reset(id);
    this.head.request(m, `api/jobs/${id}?fields=head`);
    this.explained.request(m, `api/jobs/${id}/why`);
  }

  reset(id: i64): void {
    this.id = id;
    this.job = null;
    this.why = null;
    this.head.reset();
    this.explained.reset();
    this.recorded.reset();
    this.payload = new Payload();
    this.comparison = new Comparison();
    this.error = new ErrorPanel("job", "Last error");
    this.json = "";
  }

  /** Performs an action of act() on a job of a list, without opening the job. */
  actOn(m: Model, job: ListedJob, verb: string): void {
    this.reset(job.id);
    this.job = job;
    this.act(m, verb, "", "");
  }

  refresh(m: Model): void {
    if (this.head.missing) return;
    const every = m.facts.changedAt >= this.explained.requestedAt ? WHY_MS : UNCHANGED_MS;
    if (this.explained.isDue(m, every)) this.explained.request(m, `api/jobs/${this.id}/why`, true);
    this.head.requestEvery(m, `api/jobs/${this.id}?fields=head`, HEAD_MS);
  }

  /** Whether a job that was shown is no longer in the queue. */
  get ended(): bool {
    return this.head.missing && this.job !== null;
  }

  /** The job's condition, derived from the row until the explanation has arrived; empty without a job. */
  get condition(): string {
    const why = this.why;
    if (why !== null) return why.condition;
    const job = this.job;
    if (job === null) return "";
    if (job.state === "locked") return "running";
    return job.state !== "failed" && job.attempts > 0 ? "retrying" : job.state;
  }

  onAnswer(m: Model, request: Pending, body: string): void {
    const what = request.what;
    if (what === "common") this.comparison.onAnswer(m, body);
    else if (what === "activity") this.onReceipt(m, body);
    else if (what === "payload") this.onPayload(m, body);
    else if (what === "head") this.onHead(m, body);
    else this.onWhy(m, body);
  }

  private onHead(m: Model, body: string): void {
    const r = new JsonReader(body);
    const job = readListedJob(r);
    if (!this.head.finish(m, r)) return;
    const before = this.job;
    const isSame =
      before !== null &&
      before.revision === job.revision &&
      before.payloadBytes === job.payloadBytes;
    this.job = job;
    m.shared.shown = job;
    this.explain();
    this.payload.update(m, job, isSame);
    if (!job.payloadTruncated) this.json = body;
    else if (!isSame) this.json = "";
  }

  /** Sets the condition of the job's row for the dialogs. The answer to `head` has no condition. */
  private explain(): void {
    const job = this.job;
    if (job !== null) job.condition = this.condition;
  }

  private onWhy(m: Model, body: string): void {
    const r = new JsonReader(body);
    const why = readWhy(r);
    if (!this.explained.finish(m, r)) return;
    const before = this.why;
    this.why = why;
    this.explain();
    const group = why.errorGroup;
    this.comparison.errorGroup = group === null ? "" : group;
    // If the explanation has changed, the row may have changed, too.
    if (before !== null && !isAlike(before, why))
      this.head.request(m, `api/jobs/${this.id}?fields=head`);
  }

  private onPayload(m: Model, body: string): void {
    const r = new JsonReader(body);
    const job = readListedJob(r);
    if (!this.payload.data.finish(m, r)) return;
    this.payload.onAnswer(job);
    if (!job.payloadTruncated) this.json = body;
    const next = this.payload.next;
    this.payload.next = "";
    this.perform(m, next);
  }

  /** Performs an action that needs the whole payload. */
  private perform(m: Model, verb: string): void {
    if (verb === "copy-json") copy(this.json);
    if ((verb !== "copy-add" && verb !== "duplicate") || this.payload.text === null) return;
    const job = readListedJob(new JsonReader(this.json));
    if (verb === "copy-add") copy(addCommand(job, m.access.session.schema, m.serverNow));
    else {
      m.shared.template = job;
      after(0, "ask.add", "template");
    }
  }

  /** Finds the newest write that changed the job. If its action deletes jobs, this write becomes the receipt. */
  private onReceipt(m: Model, body: string): void {
    const r = new JsonReader(body);
    const activity = readActivity(r);
    if (!this.recorded.finish(m, r)) return;
    for (let i = 0; i < activity.entries.length; i++) {
      const entry = activity.entries[i];
      if (!this.isAbout(entry) || entry.done === 0) continue;
      const action = jobActionNamed(entry.action);
      if (action !== null && action.deletes) this.receipt = entry;
      return;
    }
  }

  private isAbout(one: AuditEntry): bool {
    const ids = `,${replaced(one.ids.substring(1, one.ids.length - 1), " ", "")},`;
    if (ids.includes(`,${this.id},`)) return true;
    const job = this.job;
    if (job === null) return false;
    const key = job.key;
    return key !== null && one.key === key;
  }

  miss(m: Model, request: Pending, status: i32, reason: string): void {
    const what = request.what;
    const hadEnded = this.ended;
    if (what === "common") this.comparison.data.failedWith(status, reason);
    else if (what === "payload") this.payload.onFailure(m, this.id, status, reason);
    else if (what === "activity") return;
    else {
      const data = what === "head" ? this.head : this.explained;
      // Other failures of `why` are not shown, because refresh() soon repeats the request.
      if (what === "head" || status === 404) data.failedWith(status, reason);
    }
    if (status !== 404 || (what !== "head" && what !== "why")) return;
    this.head.missing = true;
    if (hadEnded || !this.ended) return;
    this.receipt = null;
    this.endedAt = m.now;
    this.recorded.request(m, `api/activity?limit=${MAX_READ}`);
  }

  act(m: Model, verb: string, arg: string, value: string): void {
    const job = this.job;
    if (job === null) return;
    if (verb === "copy-link") copy(pageUrl() + "#" + jobPath(this.id));
    else if (verb === "copy-command") copy(this.command(m));
    else if (verb === "copy-json" || verb === "copy-add" || verb === "duplicate") {
      if (this.payload.text !== null) this.perform(m, verb);
      else {
        this.payload.next = verb;
        this.payload.load(m, job);
      }
    } else if (verb === "open-payload") this.payload.load(m, job);
    else if (verb === "download") {
      download(`api/jobs/${this.id}/payload`, m.access.headers(), `job-${this.id}.json`);
    } else if (verb === "next" || verb === "before") this.step(m, verb === "next" ? 1 : -1);
    else {
      this.error.act(verb);
      this.payload.act(verb, arg, value);
      if (this.payload.isCompared) this.comparison.load(m);
    }
  }

  /** Moves to another job of the list that was shown last. */
  private step(m: Model, by: i32): void {
    const at = m.shared.placeOf(this.id);
    const to = at + by;
    if (at >= 0 && to >= 0 && to < m.shared.listIds.length) {
      navigate(jobPath(m.shared.listIds[to]), true);
    }
  }

  /** The shell command of the primary action, or `worker show`. */
  command(m: Model): string {
    const job = this.job;
    return job === null ? "" : commandOf(job, this.condition, this.why, m.access.session.schema);
  }
}

function isAlike(one: Why, other: Why): bool {
  const isSameTime = one.since === other.since || (isNaN(one.since) && isNaN(other.since));
  if (one.condition !== other.condition || !isSameTime) return false;
  if (one.nextAttempts.length !== other.nextAttempts.length) return false;
  return one.nextAttempts.length === 0 || one.nextAttempts[0] === other.nextAttempts[0];
}

/** The view that all pages share, because at most one page at a time shows a whole job. */
export const jobView: JobView = new JobView();
