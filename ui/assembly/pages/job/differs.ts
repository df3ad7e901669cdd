/** What sets the jobs that fail the same way apart from others of their tasks, and whether this one has it. */
import { INFO, icon } from "../../controls/icon";
import { cell, row, table } from "../../controls/table";
import { Common, Finding, readCommon } from "../../generated/records";
import { Fetched } from "../../kit/fetched";
import { JsonReader, Kind } from "../../lib/json-reader";
import { box, leaf, Node, text } from "../../lib/node";
import { counted } from "../../lib/number";
import { encode } from "../../lib/percent";
import { visible } from "../../lib/visible";
import { Model } from "../../model/model";

const MOST_DEPTH = 20;

export class Differs {
  readonly asked: Fetched = new Fetched("job.common");
  private common: Common = new Common();
  /** The group of the job's error; the empty string: there is nothing to compare it with. */
  private group: string = "";

  get isOffered(): bool {
    return this.group.length > 0;
  }

  set errorGroup(group: string) {
    if (group === this.group) return;
    this.group = group;
    this.asked.forget();
  }

  load(m: Model): void {
    if (!this.isOffered || this.asked.ready || this.asked.isOn(m)) return;
    this.asked.ask(m, "api/groups/common?q=" + encode("group:" + this.group));
  }

  take(m: Model, body: string): void {
    const r = new JsonReader(body);
    const common = readCommon(r);
    r.end();
    if (r.failed) this.asked.broke(r.error);
    else {
      this.common = common;
      this.asked.took(m);
    }
  }

  /** `json`: this job's payload, if it is here. */
  view(m: Model, json: string | null): Node {
    if (!this.asked.ready) return box("div", "", [this.asked.placeholder(m, 4)]);
    const compared = this.common.compared;
    const findings = this.common.findings;
    const foot = leaf(
      "p",
      "pf",
      `Compared with ${counted(compared.there, "other job", "other jobs")} of the same tasks that are still in the table: ${counted(compared.here, "job fails", "jobs fail")} this way. Finished jobs are gone.`,
    );
    if (compared.there === 0 || findings.length === 0) {
      const why =
        compared.there === 0
          ? "There is no other job of its task to compare it with."
          : "Nothing sets the jobs that fail this way apart from the others.";
      return box("div", "", [leaf("p", "pb dim", why), foot]);
    }
    const rows: Node[] = [];
    for (let i = 0; i < findings.length; i++) rows.push(findingRow(findings[i], json));
    return box("div", "", [
      box("div", "pb", [standsOut(findings[0])]),
      table("differs", "What differs", COLUMNS, rows),
      foot,
    ]);
  }
}

const COLUMNS: string[] = [
  "=Field",
  "=Stands out",
  "w-mid=This job",
  "num w4=Fail alike",
  "num w4=Others",
];

function standsOut(first: Finding): Node {
  return box("div", "note info", [
    icon(INFO),
    leaf("b", "", `${visible(first.path)} = ${visible(first.value)} stands out.`),
    leaf(
      "span",
      "",
      `${percent(first.here)} of the jobs that fail this way have it, and ${percent(first.there)} of the others.`,
    ),
  ]);
}

function findingRow(one: Finding, json: string | null): Node {
  const own = json === null ? "" : valueAt(json, one.path);
  return row(one.path + " " + one.value, "", [
    cell("", [leaf("code", "", visible(one.path))]),
    cell("", [leaf("code", "", visible(one.value))]),
    cell("w-mid", [own.length > 0 ? leaf("code", "", visible(own)) : leaf("span", "faint", "–")]),
    cell("num", [text(percent(one.here))]),
    cell("num", [text(percent(one.there))]),
  ]);
}

function percent(share: f64): string {
  const whole = <i64>Math.round(share * 100);
  if (whole === 100 && share < 1) return "> 99 %";
  return whole === 0 && share > 0 ? "< 1 %" : `${whole} %`;
}

/** What stands at `payload.customer.vip`; the empty string where nothing does, or the path is another kind. */
function valueAt(json: string, path: string): string {
  const steps = path.split(".");
  if (steps[0] !== "payload" || steps.length > MOST_DEPTH) return "";
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
