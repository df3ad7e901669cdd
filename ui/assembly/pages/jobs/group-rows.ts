/** The rows before and after the jobs of a group, in a list of jobs that is grouped by error, task or queue. */

import { jobsPath } from "../../bar/terms";
import { ago, clockAt } from "../../controls/age";
import { ownButton } from "../../controls/button";
import { DOWN, icon, NEXT } from "../../controls/icon";
import { valueNode, valueText } from "../../controls/value";
import { firstActionFor, withJobs } from "../../generated/commands";
import { Fix, Group } from "../../generated/records";
import { groupName, groupTrend } from "../../kit/group-row";
import { Column, Row } from "../../kit/row";
import { operationVerb, verbArg } from "../../kit/verb";
import { attr, box, cls, el, leaf, Node, nothing, text } from "../../lib/node";
import { numberText } from "../../lib/number";
import { Model } from "../../model/model";
import { percent } from "../../parts/common";
import { cutName } from "../../parts/exact-name";

/** Returns the key of a group's GroupRow, which is also the scope of the rows below. */
export function headKey(key: string): string {
  return "of " + key;
}

/** Returns the headings of a GroupRow's parts. */
export function groupHeads(by: string): Column[] {
  const isError = by === "error";
  const what = isError ? "Error" : by === "task" ? "Task" : "Queue";
  const list: Column[] = [new Column("name", what, "", "")];
  if (isError) list.push(new Column("chart", "Last 3 h", "", ""));
  list.push(new Column("gn", "Jobs", "", ""));
  list.push(new Column("first", isError ? "First" : "Oldest", "", ""));
  list.push(new Column("last", isError ? "Last" : "Newest", "", ""));
  list.push(new Column("act", "", "", ""));
  return list;
}

export class GroupRow extends Row {
  constructor(
    readonly group: Group,
    private readonly by: string,
    private readonly condition: string,
    private readonly query: string,
    readonly isOpen: bool,
  ) {
    super(headKey(group.key));
  }

  get name(): string {
    return this.group.label;
  }

  override get path(): string {
    return jobsPath(this.query, "");
  }

  override get isSelectable(): bool {
    return false;
  }

  override get spans(): bool {
    return true;
  }

  override get tone(): string {
    return "grp";
  }

  /** The most likely action on all jobs of the group; null if there is none, or if the action needs input. */
  get verb(): Fix | null {
    const count = valueText(this.group.count);
    const first = firstActionFor(this.condition);
    return first !== null && first.needsNoInput
      ? operationVerb(first.name, withJobs(first.ask, count) + "…", this.query)
      : null;
  }

  cells(m: Model): Node[] {
    const group = this.group;
    return [
      box("div", "grow", [
        this.twist(),
        this.by === "error" ? groupName(group) : cutName(group.label, "name"),
        groupTrend(group),
        box("span", "gn", [
          valueNode(group.count, "strong"),
          leaf("span", "faint share-of", " " + percent(group.share)),
        ]),
        this.time("first", this.by === "error" ? "since " : "oldest ", this.since(m)),
        this.time("last", this.by === "error" ? "last " : "newest ", this.latest(m)),
        box("span", "act", [this.button(m)]),
      ]),
    ];
  }

  /** The tab key skips this button: Enter on the row also opens or closes the group. */
  private twist(): Node {
    const words = this.isOpen ? "Close group" : "Open group";
    return ownButton(
      "twist",
      "jobs.open",
      this.key,
      [
        attr("tabindex", "-1"),
        attr("aria-expanded", this.isOpen ? "true" : "false"),
        attr("aria-label", words),
      ],
      [icon(this.isOpen ? DOWN : NEXT)],
    );
  }

  /** `word` is for screen readers. On screen, the heading of the column replaces the word. */
  private time(column: string, word: string, time: string): Node {
    const words = time.length > 0 ? [leaf("span", "sr", word), text(time)] : [];
    return box("span", `faint ${column}`, words);
  }

  // In a group by error, `firstSeen` and `lastSeen` are times of failures; in other groups, times of adds.
  private since(m: Model): string {
    const first = this.group.firstSeen;
    return isNaN(first) ? "" : clockAt(first, m.serverNow);
  }

  private latest(m: Model): string {
    const last = this.group.lastSeen;
    return isNaN(last) ? "" : ago(last, m.times);
  }

  private button(m: Model): Node {
    const verb = this.verb;
    if (verb === null || !m.access.canWrite || m.live.isStale(m.now)) return nothing;
    const unreached = [attr("tabindex", "-1")];
    return ownButton("btn s", "ask.verb", verbArg(verb), unreached, [text(verb.label)]);
  }
}

/**
 * The row after the shown jobs of a group: the number of further jobs, if known, and a link to all jobs of the group.
 */
export class MoreRow extends Row {
  constructor(
    private readonly group: Group,
    private readonly query: string,
    private readonly shown: i32,
    private readonly isComplete: bool,
  ) {
    super("more " + group.key);
  }

  get name(): string {
    return "all of " + this.group.label;
  }

  override get path(): string {
    return jobsPath(this.query, "");
  }

  override get isSelectable(): bool {
    return false;
  }

  override get spans(): bool {
    return true;
  }

  override get scope(): string {
    return headKey(this.group.key);
  }

  override get isEnd(): bool {
    return true;
  }

  override get tone(): string {
    return "more-row";
  }

  cells(_m: Model): Node[] {
    return [
      text(this.rest() + " · "),
      el(
        "a",
        [attr("href", "#" + this.path), cls("link"), attr("tabindex", "-1")],
        [text("show all")],
      ),
    ];
  }

  private rest(): string {
    if (!this.isComplete) return "The search stopped after these matches";
    const count = this.group.count;
    if (count.precision !== "exact") return `${valueText(count)} in all`;
    const rest = count.value - this.shown;
    return rest > 0 ? `${numberText(rest)} more` : "No more";
  }
}
