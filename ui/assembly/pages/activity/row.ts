/**
 * A row of the list of changes: a sentence, the jobs, the user and the time. The row of an operation also has a link
 * to the receipt. The row of the operation's start can have buttons, too: one for the undo, one that copies the
 * command.
 */
import { agoElement } from "../../controls/age";
import { copyButton, link } from "../../controls/button";
import { cutText } from "../../controls/middle";
import { cell } from "../../controls/table";
import { AuditEntry } from "../../generated/records";
import { Column, Row } from "../../kit/row";
import { writeButton } from "../../kit/verb";
import { JsonReader } from "../../lib/json-reader";
import { box, Node, nothing, text } from "../../lib/node";
import { numberText } from "../../lib/number";
import { jobPath, operationPath } from "../../model/links";
import { Model } from "../../model/model";
import { isAtWork, lineWith, past, titleOf } from "../../operations/words";

export const COLUMNS: Column[] = [
  new Column("", "What", "", ""),
  new Column("by w-mid", "Who", "", ""),
  new Column("num when", "When", "", ""),
  new Column("num receipt w-mid", "Action", "", ""),
];

const NAMED_IDS: i32 = 3;

export class ActivityRow extends Row {
  private readonly ids: i64[];

  constructor(readonly entry: AuditEntry) {
    super(entry.id.toString());
    this.ids = idsIn(entry.ids);
  }

  override get name(): string {
    return sentenceOf(this.entry);
  }

  /** The address of the operation, or of the change's only job; otherwise empty. */
  override get path(): string {
    const operation = this.entry.operationId;
    if (operation !== i64.MIN_VALUE) return operationPath(operation);
    return this.ids.length === 1 ? jobPath(this.ids[0]) : "";
  }

  override cells(m: Model): Node[] {
    const entry = this.entry;
    const by = entry.by;
    const path = this.path;
    const acts = this.acts(m);
    const title = cutText(this.sentence(m), "name");
    return [
      cell("two", [
        path.length > 0 ? link(path, "row", [title]) : box("div", "row", [title]),
        cutText(this.about(), "sub"),
      ]),
      cell("dim w-mid cut", [text(by === null ? "" : by)]),
      cell("num dim", [agoElement(entry.at, m.times)]),
      cell("acts w-mid", acts.length > 0 ? [box("span", "row", acts)] : []),
    ];
  }

  /**
   * Returns what was done. If the entry is the start of the running operation (m.facts.operation), returns what the
   * operation is doing.
   */
  private sentence(m: Model): string {
    const latest = m.facts.operation;
    const isOfLatest = latest !== null && latest.id === this.entry.operationId;
    return isOfLatest && this.isBeginning && isAtWork(latest!) ? titleOf(latest!) : this.name;
  }

  /** Whether the entry of an operation is the operation's start, and not its pause, resume, stop or undo. */
  private get isBeginning(): bool {
    return !this.entry.action.startsWith("operation.");
  }

  private about(): string {
    const entry = this.entry;
    const parts: string[] = [];
    const query = entry.q;
    const key = entry.key;
    if (query !== null) parts.push(query);
    if (key !== null) parts.push("key " + key);
    if (this.ids.length > 0) parts.push(this.named());
    if (entry.skipped > 0) parts.push(`${numberText(entry.skipped)} skipped`);
    if (entry.source !== "admin") parts.push(entry.source);
    return parts.join(" · ");
  }

  /** Returns the first ids, such as `#5, #7, #8 and 12 more`. */
  private named(): string {
    const shown: string[] = [];
    for (let i = 0; i < min(this.ids.length, NAMED_IDS); i++) shown.push(`#${this.ids[i]}`);
    const rest = max<i64>(this.entry.idsCount, this.ids.length) - shown.length;
    return shown.join(", ") + (rest > 0 ? ` and ${numberText(rest)} more` : "");
  }

  private acts(m: Model): Node[] {
    const entry = this.entry;
    const id = entry.operationId;
    if (id === i64.MIN_VALUE) return [];
    const line = entry.cli;
    return [
      this.isBeginning && entry.canUndo
        ? writeButton(m, "Undo…", "ask.change", `undo ${id}`, "s")
        : nothing,
      this.isBeginning && line !== null
        ? copyButton("the command", lineWith(line, m.access.session.schema, ""))
        : nothing,
      link(operationPath(id), "btn s q", [text("Receipt")]),
    ];
  }
}

function sentenceOf(entry: AuditEntry): string {
  const id = entry.operationId;
  // A sentence is composed here only for an operation by query. For any other change, the server's message has more
  // details.
  if (id === i64.MIN_VALUE || entry.q === null) return entry.message;
  const action = entry.action;
  if (action === "operation.pause") return `Paused operation ${id}`;
  if (action === "operation.resume") return `Resumed operation ${id}`;
  if (action === "operation.stop") return `Stopped operation ${id}`;
  if (action === "operation.undo") return `Undo of operation ${id}`;
  return past(action, max<i64>(0, entry.done), "");
}

function idsIn(json: string): i64[] {
  const ids: i64[] = [];
  const r = new JsonReader(json);
  if (r.takeNull()) return ids;
  r.beginArray();
  while (r.nextItem()) ids.push(r.i64());
  return r.failed ? [] : ids;
}
