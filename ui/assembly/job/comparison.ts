/**
 * The part of a job's page that shows how the jobs with the same error differ from other jobs of their tasks, and
 * which values this job has in the fields that differ.
 */
import { Common, readCommon } from "../generated/records";
import { ServerData } from "../kit/server-data";
import { JsonReader, Kind } from "../lib/json-reader";
import { box, leaf, Node, nothing } from "../lib/node";
import { encode } from "../lib/percent";
import { Model } from "../model/model";
import { commonBody } from "../parts/common";

const MAX_DEPTH = 20;

export class Comparison {
  readonly data: ServerData = new ServerData("job.common");
  private common: Common = Common.empty();
  /** The group of the job's error; empty: there is no group to compare with. */
  private group: string = "";

  get isOffered(): bool {
    return this.group.length > 0;
  }

  set errorGroup(group: string) {
    if (group === this.group) return;
    this.group = group;
    this.data.reset();
  }

  load(m: Model): void {
    if (!this.isOffered || this.data.ready || this.data.isPending(m)) return;
    this.data.request(m, "api/groups/common?q=" + encode("group:" + this.group));
  }

  onAnswer(m: Model, body: string): void {
    const r = new JsonReader(body);
    const common = readCommon(r);
    if (this.data.finish(m, r)) this.common = common;
  }

  /** `json`: the job's payload; null if it was not loaded. */
  view(m: Model, json: string | null): Node {
    const body = commonBody(m, this.data, this.common);
    if (json !== null && this.data.ready) body.push(this.ofThisJob(json));
    return box("div", "", body);
  }

  /**
   * Returns this job's values in those fields of the payload in which the jobs with the same error differ from others.
   */
  private ofThisJob(json: string): Node {
    const parts: Node[] = [];
    const findings = this.common.findings;
    for (let i = 0; i < findings.length; i++) {
      const path = findings[i].path;
      const own = valueAt(json, path);
      if (own.length > 0) {
        parts.push(leaf("code", "", `${path.substring(8)} = ${own}`));
      }
    }
    if (parts.length === 0) return nothing;
    return box("p", "pf row", [leaf("span", "", "This job:")].concat(parts));
  }
}

/**
 * Returns the first 80 characters of the JSON value at a path such as `payload.customer.vip`. Returns the
 * empty string if there is no such value, if it is an object or an array, or if the path has over MAX_DEPTH steps.
 */
function valueAt(json: string, path: string): string {
  const steps = path.split(".");
  if (steps[0] !== "payload" || steps.length > MAX_DEPTH) return "";
  const r = new JsonReader(json);
  for (let i = 1; i < steps.length; i++) {
    if (r.peek() !== Kind.Object) return "";
    r.beginObject();
    let found = false;
    while (!found && r.nextKey()) {
      found = r.keyIs(steps[i]);
      if (!found) r.skip();
    }
    if (!found) return "";
  }
  const kind = r.peek();
  return kind === Kind.Object || kind === Kind.Array ? "" : r.raw().substring(0, 80);
}
