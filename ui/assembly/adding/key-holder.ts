/** Requests the job that already has the job key typed into a form, so that the form can show this job. */
import { ListedJob, readJobList } from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { quote } from "../lib/json-writer";
import { encode } from "../lib/percent";
import { Model } from "../model/model";

const MAX_LENGTH = 512;

export class KeyHolder {
  private key: string = "";
  private answered: string = "";
  private holder: ListedJob | null = null;

  /** `topic`: the topic of the requests that this object sends, `<dialog>.key`. */
  constructor(readonly topic: string) {}

  request(m: Model, key: string): void {
    this.answered = "";
    this.holder = null;
    if (key.length === 0 || key.length > MAX_LENGTH) return;
    this.key = key;
    const q = encode("key:" + quote(key));
    m.requests.read(m.access, this.topic, `api/jobs?fields=row&limit=1&q=${q}`);
  }

  onAnswer(body: string): void {
    const r = new JsonReader(body);
    const list = readJobList(r);
    // A search that ran out of time does not show that no job has the key.
    if (r.failed || !list.complete) return;
    this.answered = this.key;
    this.holder = list.jobs.length > 0 ? list.jobs[0] : null;
  }

  /** Returns the job that has this key; null: no job has it, or no valid answer about this key has arrived. */
  of(key: string): ListedJob | null {
    return key.length > 0 && this.answered === key ? this.holder : null;
  }

  note(key: string): string {
    if (key.length === 0 || this.answered !== key) return "";
    const holder = this.holder;
    return holder === null
      ? "No job has this key now."
      : `Job #${holder.id} has this key (${holder.condition}).`;
  }
}
