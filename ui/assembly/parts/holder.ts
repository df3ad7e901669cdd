/** A worker whose locks somebody may take away: what it holds, and when it was heard of. */
import { ago, Times } from "../controls/age";
import { countedValue } from "../controls/value";
import { Holder, readHolder } from "../generated/records";
import { Fetched } from "../kit/fetched";
import { JsonReader } from "../lib/json-reader";
import { counted } from "../lib/number";
import { encode } from "../lib/percent";
import { Model } from "../model/model";

export class HolderOf {
  readonly asked: Fetched;
  holder: Holder = new Holder();
  worker: string = "";

  /** The topic is `<page>.holder`. */
  constructor(page: string) {
    this.asked = new Fetched(page + ".holder");
  }

  ask(m: Model, worker: string): void {
    if (worker !== this.worker) this.asked.forget();
    this.worker = worker;
    this.asked.ask(m, "api/workers/" + encode(worker));
  }

  take(m: Model, body: string): void {
    const r = new JsonReader(body);
    const holder = readHolder(r);
    r.end();
    if (r.failed) {
      this.asked.broke(r.error);
      return;
    }
    this.holder = holder;
    this.asked.took(m);
  }

  /** Whether this is known of that worker. */
  knows(worker: string): bool {
    return this.asked.ready && this.worker === worker;
  }

  /** `frees 1 job and 3 queues`; nothing while it isn't known. */
  get frees(): string {
    if (!this.asked.ready) return "";
    const jobs = countedValue(this.holder.running, "job", "jobs");
    return `frees ${jobs} and ${counted(this.holder.heldQueues, "queue", "queues")}`;
  }

  /** The preview of unlocking it. */
  preview(times: Times): string {
    if (!this.asked.ready) return "";
    const heard = this.holder.lastHeartbeatAt;
    const last = isNaN(heard)
      ? "It never sent a heartbeat"
      : `It last answered ${ago(heard, times)}`;
    return `Unlocking ${this.worker} ${this.frees}. ${last}.`;
  }
}
