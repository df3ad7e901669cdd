/** The dialog that sets or changes a limit: on a task or a queue, or on all tasks or queues that match a pattern. */

import { defaultBurst } from "../../../src/domain/portable/default-burst";
import { NewJobFacts } from "../adding/new-job";
import { periodText } from "../controls/age";
import { Draft } from "../forms/draft";
import { Field, suggestions } from "../forms/field";
import { Form } from "../forms/form";
import { Command } from "../generated/commands";
import { ListedLimit, readLimitList } from "../generated/records";
import { after } from "../host";
import { JsonReader } from "../lib/json-reader";
import { box, Node, nothing } from "../lib/node";
import { Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";
import { Pending } from "../model/requests";
import { LIMIT } from "../operations/limiting";
import { unstartable } from "../operations/missing-tables";
import { scopeOf } from "../operations/pausing";
import { TablesDialog } from "./command";

const SCOPE = "scope";
const PER = "per";
const ANY = "no limit";
const UNITS: string[] = ["s=second", "min=minute", "h=hour"];
/** The pause in typing after which a request is sent, in milliseconds. */
const TYPING_MS: i32 = 250;

export class LimitDialog extends TablesDialog {
  private names: NewJobFacts;
  /** The name of the limit to change; empty for a new limit. */
  private limit: string = "";
  private isRead: bool = false;
  private known: ListedLimit[] = [];
  private units: string[] = UNITS;
  private typing: i32 = 0;

  constructor(command: Command) {
    super(command);
    this.names = new NewJobFacts(command.name);
  }

  /** `arg`: `limit payments` to change the limit `payments`; for a new limit `task send`, `queue mail`, or empty. */
  override open(m: Model, dialog: OpenDialog, arg: string): bool {
    const draft = dialog.draft;
    const scope = scopeOf(arg);
    const name = arg.substring(scope.length + 1);
    const isChange = arg.startsWith(LIMIT);
    this.limit = isChange ? name : "";
    this.isRead = false;
    this.units = UNITS;
    draft.set(SCOPE, scope === "queue" ? scope : "task");
    draft.set(PER, "min");
    if (!isChange) draft.set(scope, name);
    this.names.open(m);
    this.names.requestQueue(m, "");
    m.requests.read(m.access, this.name + ".limits", "api/limits");
    return super.open(m, dialog, "");
  }

  override onAnswer(_m: Model, dialog: OpenDialog, request: Pending, body: string): void {
    if (!request.topic.endsWith(".limits")) {
      this.names.onAnswer(request, body);
      return;
    }
    const list = readLimitList(new JsonReader(body));
    this.missing = list.missing;
    this.known = list.limits;
    for (let i = 0; i < list.limits.length; i++) {
      if (list.limits[i].name !== this.limit) continue;
      this.isRead = true;
      this.fill(dialog.draft, list.limits[i]);
    }
    if (this.limit.length > 0 && !this.isRead) dialog.error = "This limit no longer exists.";
  }

  /**
   * Fills the limit's stored definition into empty fields, and keeps what the user has entered. The scope, and the
   * period of a rate, are always set. A default burst is not filled in, so that the burst still follows the rate if
   * the rate is changed.
   */
  private fill(draft: Draft, limit: ListedLimit): void {
    const rate = limit.rate;
    draft.set(SCOPE, limit.scope);
    draft.fill(limit.scope, limit.match);
    if (limit.concurrency > 0) draft.fill("concurrency", limit.concurrency.toString());
    if (rate === null) return;
    const per = periodText(rate.perMs);
    draft.fill("rate", rate.limit.toString());
    const usual = <i64>defaultBurst(<f64>rate.limit, <f64>rate.perMs);
    if (rate.burst !== usual) draft.fill("burst", rate.burst.toString());
    draft.set(PER, per);
    for (let i = 0; i < UNITS.length; i++) if (UNITS[i].startsWith(per + "=")) return;
    this.units = UNITS.concat([`${per}=${per}`]);
  }

  override onInput(_m: Model, _dialog: OpenDialog, field: string): void {
    if (field !== "task" && field !== "queue") return;
    this.typing++;
    after(TYPING_MS, "dialog.typed", this.typing.toString());
  }

  override onInputPause(m: Model, dialog: OpenDialog, arg: string): void {
    if (arg !== this.typing.toString()) return;
    this.names.requestTask(m, dialog.draft.value("task"));
    this.names.requestQueue(m, dialog.draft.value("queue"));
  }

  override title(dialog: OpenDialog): string {
    if (this.limit.length > 0) return "Change the limit " + this.limit;
    const match = matchOf(dialog.draft);
    return match.length > 0 ? "Set a limit on " + match : this.command.title;
  }

  protected override actionText(_dialog: OpenDialog): string {
    return this.limit.length > 0 ? "Change limit" : this.command.verb;
  }

  /** A change sends the whole form, so the limit's stored definition must have been read into the form. */
  override blocked(dialog: OpenDialog): string {
    return this.limit.length > 0 && !this.isRead
      ? "The limit has not been read."
      : super.blocked(dialog);
  }

  override form(_m: Model, dialog: OpenDialog): Node {
    const draft = dialog.draft;
    const isTask = draft.value(SCOPE) === "task";
    const scope = new Field(draft, SCOPE, "Applies to");
    scope.disabled = this.limit.length > 0;
    const match = new Field(draft, isTask ? "task" : "queue", "Name or pattern");
    match.focused = true;
    match.required = true;
    match.list = "limit-names";
    match.hint = "Each * matches any text: tenant/*";
    const name = new Field(draft, "name", "Name");
    name.placeholder = matchOf(draft);
    const most = new Field(draft, "concurrency", "Max at once");
    most.placeholder = ANY;
    const rate = new Field(draft, "rate", "Max rate");
    rate.placeholder = ANY;
    const burst = new Field(draft, "burst", "Burst");
    burst.placeholder = "default";
    burst.hint = "How many can start at once after a quiet period.";
    return box("div", "form", [
      unstartable(this.missing),
      box("div", "field-row", [scope.select(["task=task", "queue=queue"]), match.input()]),
      box("div", "field-row", [this.limit.length > 0 ? nothing : name.input(), most.input()]),
      box("div", "field-row three", [
        rate.input(),
        new Field(draft, PER, "Per").select(this.units),
        burst.input(),
      ]),
      suggestions("limit-names", isTask ? this.names.names() : this.names.queueNames()),
    ]);
  }

  protected override members(_m: Model, dialog: OpenDialog, form: Form): void {
    const draft = dialog.draft;
    const scope = draft.value(SCOPE);
    const name = draft.value("name");
    form.required(scope, scope, "Enter a name or a pattern.");
    const isNew = this.limit.length === 0;
    const used = isNew ? (name.trim().length > 0 ? name : draft.value(scope)) : this.limit;
    form.body.string("name", used);
    for (let i = 0; i < this.known.length && isNew; i++) {
      if (this.known[i].name === used) draft.reject("name", "A limit of this name already exists.");
    }
    form.whole("concurrency", "concurrency", 1, 10000);
    const isAny = form.filled === 0;
    const own = new Form(draft);
    own.whole("rate", "rate", 1, 1000000);
    const rate = own.filled > 0 ? `${draft.value("rate").trim()}/${draft.value(PER)}` : "";
    // The server keeps the parts that a change omits, so a removed part is sent as 0 or as an empty text.
    if (rate.length > 0) {
      const others = form.filled;
      form.whole("burst", "burst", 1, 1000000);
      if (form.filled === others && !isNew) form.body.int("burst", 0);
    } else if (isAny) draft.reject("concurrency", "Enter how many run at once, a rate, or both.");
    if (isAny && !isNew) form.body.int("concurrency", 0);
    if (rate.length > 0 || !isNew) form.body.string("rate", rate);
  }
}

function matchOf(draft: Draft): string {
  return draft.value(draft.value(SCOPE));
}
