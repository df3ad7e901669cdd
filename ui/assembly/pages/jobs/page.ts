/** The page of jobs: the query bar, shortcuts, actions on rows, views and the export. */

import { FIELD } from "../../bar/bar-view";
import { jobsPath, taskTarget } from "../../bar/terms";
import { LIST as DRAWING } from "../../controls/icon";
import { valueText } from "../../controls/value";
import { jobActions, withJobs } from "../../generated/commands";
import { isLocked } from "../../generated/conditions";
import { ListedJob, readSuggestions, Value } from "../../generated/records";
import { after, focus, navigate } from "../../host";
import { jobShortcuts } from "../../job/head";
import { jobView } from "../../job/job-view";
import { ServerData } from "../../kit/server-data";
import { verbArg } from "../../kit/verb";
import { JsonReader } from "../../lib/json-reader";
import { Node } from "../../lib/node";
import { parseWhole } from "../../lib/number";
import { encode } from "../../lib/percent";
import { Mark, Model, noMark } from "../../model/model";
import { OpenDialog } from "../../model/open-dialog";
import { Pending } from "../../model/requests";
import { keyOf, Shortcut } from "../../model/shortcut";
import { setKey, setShortcut } from "../../operations/limiting";
import { isPaused, pauseShortcut } from "../../operations/pausing";
import { BesideJobs } from "./beside-jobs";
import { announceExport, exportShortcuts, MENU, startExport, TICKET, takeTicket } from "./export";
import { GroupRow } from "./group-rows";
import { GROUPINGS } from "./groups";
import { JobRow } from "./row";
import {
  aboutOf,
  againOf,
  areLocked,
  canSelectAll,
  dialogFor,
  selectedJobs,
  verbsForEvery,
} from "./selection";
import { exportedColumns, jobsView } from "./view";

const SUGGEST_MS = 60;

export class JobsPage extends BesideJobs {
  /** How many jobs the query of the last export finds; null: unknown. */
  private exporting: Value | null = null;
  private readonly suggestions: ServerData = new ServerData("jobs.suggest");

  constructor() {
    super();
    this.label = "Jobs";
    this.drawing = DRAWING;
    this.letter = "j";
    this.inBar = true;
  }

  override title(): string {
    const condition = this.bar.terms.condition;
    return condition.length > 0 ? `Jobs, ${condition}` : "Jobs";
  }

  override mark(m: Model): Mark {
    return m.facts.has("counts") ? new Mark(valueText(m.facts.counts.total), "") : noMark;
  }

  override view(m: Model): Node {
    return jobsView(m, this);
  }

  override onAnswer(m: Model, request: Pending, body: string): void {
    if (request.topic === this.suggestions.topic) this.onSuggestions(m, request, body);
    else if (request.topic === TICKET) takeTicket(m, body);
    else super.onAnswer(m, request, body);
  }

  override onFailure(m: Model, request: Pending, status: i32, reason: string): void {
    if (request.topic === TICKET) m.notices.bad(reason);
    else if (request.topic !== this.suggestions.topic) super.onFailure(m, request, status, reason);
  }

  override act(m: Model, verb: string, arg: string, value: string): void {
    const bar = this.bar;
    const number = <i32>parseWhole(arg).value;
    if (verb === "type") this.typeQuery(m, value);
    else if (verb === "suggest") this.pause(m, arg);
    else if (verb === "bar") this.barKey(m, value);
    else if (verb === "find") this.enter(m);
    else if (verb === "take") this.complete(m, number, true);
    else if (verb === "correct") {
      bar.type(arg);
      this.enter(m);
    } else if (verb === "drop") this.searchFor(this.bar.terms.without(number));
    else if (verb === "edit") this.edit(number);
    else if (verb === "setting") this.settings.set(arg, value === "on");
    else if (verb === "follow") this.follow(arg);
    else if (verb === "close") this.close(m);
    else if (verb === "news") this.showNews(m);
    else if (verb === "view-name") this.viewName = value;
    else if (verb === "save-view") this.saveView(m);
    else if (verb === "drop-view") {
      m.views.remove(arg);
      m.notices.good(`Deleted the view “${arg}”`);
    } else if (verb === "export") {
      this.exporting = this.total(m);
      startExport(m, this.query, arg);
    } else if (verb === "export-menu") focus(MENU);
    else if (verb === "exported") announceExport(m, value, this.exporting);
    else if (verb === "stop") this.stop(m);
    else if (verb === "row") {
      const job = this.currentJob;
      if (job !== null) jobView.actOn(m, job, arg);
    } else if (verb === "go-on") {
      this.search.resume(m);
      this.goOn(m);
    } else super.act(m, verb, arg, value);
  }

  private saveView(m: Model): void {
    const fault = m.views.save(this.viewName, this.viewPath);
    if (fault.length > 0) {
      m.notices.bad(fault);
      return;
    }
    m.notices.good(`Saved the view “${m.views.nameOf(this.viewPath)}”`);
    this.viewName = "";
  }

  private typeQuery(_m: Model, value: string): void {
    this.bar.type(value);
    if (value.trim().length === 0) this.bar.close();
    else after(SUGGEST_MS, "jobs.suggest", this.bar.serial.toString());
  }

  /** Requests completions if nothing has been typed since the timer of typeQuery() began. */
  private pause(m: Model, serial: string): void {
    m.isNew = false;
    if (serial === this.bar.serial.toString()) this.suggest(m);
  }

  private suggest(m: Model): void {
    const draft = this.bar.draft;
    this.suggestions.request(m, `api/suggest?q=${encode(draft)}&at=${draft.length}`);
  }

  private onSuggestions(m: Model, request: Pending, body: string): void {
    const r = new JsonReader(body);
    const found = readSuggestions(r);
    r.end();
    const draft = this.bar.draft;
    // An answer for an earlier text is ignored.
    if (!r.failed && request.path.endsWith(`?q=${encode(draft)}&at=${draft.length}`)) {
      this.bar.propose(found);
      if (this.bar.wantsFirst) this.complete(m, 0, false);
    }
  }

  private barKey(m: Model, stroke: string): void {
    const bar = this.bar;
    if (stroke === "ArrowDown" && !bar.isOpen) this.suggest(m);
    else if (stroke === "ArrowDown") bar.move(1);
    else if (stroke === "ArrowUp") bar.move(-1);
    else if (stroke === "Tab" && bar.isStale) bar.wantsFirst = true;
    else if (stroke === "Tab") this.complete(m, max(bar.marked, 0), false);
    else if (stroke === "Backspace") {
      this.edit(bar.terms.chips.length - 1);
    } else if (bar.isOpen) bar.close();
    else if (bar.draft.length > 0) bar.type("");
    else focus(this.list.rows.length > 0 ? this.rowId(this.list.currentKey) : "page-title");
  }

  private enter(m: Model): void {
    const bar = this.bar;
    if (bar.marked >= 0) {
      this.complete(m, bar.marked, true);
      return;
    }
    bar.close();
    bar.isSubmitted = true;
    const typed = bar.typed;
    if (typed.fault !== null) return;
    bar.type("");
    if (typed.chips.length > 0 || typed.condition.length > 0) this.searchFor(bar.terms.and(typed));
  }

  /** Inserts a completion. `searches`: whether to search at once if the text is now a valid query. */
  private complete(m: Model, index: i32, searches: bool): void {
    const isWhole = this.bar.take(index);
    focus(FIELD);
    if (isWhole && searches) this.enter(m);
    else this.suggest(m);
  }

  private edit(index: i32): void {
    if (index < 0 || index >= this.bar.terms.chips.length) return;
    focus(FIELD);
    this.searchFor(this.bar.edit(index));
  }

  private searchFor(query: string): void {
    navigate(jobsPath(query, this.groups.by), false);
  }

  override shortcuts(m: Model): Shortcut[] {
    const isOpen = this.opened.length > 0;
    const other = jobsPath(this.query, this.isGrouped ? "" : GROUPINGS[0]);
    // If two shortcuts have the same key, the later one counts.
    let keys = (isOpen ? jobShortcuts(m, jobView) : []).concat(super.shortcuts(m));
    keys.push(
      new Shortcut("f", this.isGrouped ? "List" : "Group by error", "app.go", other, "List"),
    );
    keys = keys.concat(exportShortcuts(m, exportedColumns(this)));
    if (isOpen) keys.push(new Shortcut("Escape", "Close the job", "jobs.close", "", "List"));
    if (!isOpen && this.currentJob !== null) {
      keys.push(this.rowKey("c", "Copy the job's link", "copy-link"));
      keys.push(this.rowKey("y", "Copy the job's command", "copy-command"));
    }
    if (!m.access.canWrite) return keys;
    const task = taskTarget(this.bar.terms);
    if (task.length > 0) {
      keys.push(pauseShortcut(task, isPaused(m, task), keyOf("pause"), "This task"));
      keys.push(setShortcut(task, setKey(), "This task"));
    }
    if (canSelectAll(this)) {
      keys.push(new Shortcut("Mod+a", "Select all matches", "jobs.every", "", "List"));
    }
    if (this.list.selected.size > 0 || this.list.every) {
      const isEveryLocked = this.list.every
        ? isLocked(this.bar.terms.condition)
        : areLocked(this.targets());
      if (isEveryLocked) return keys;
      keys.push(this.verbKey("r", "Retry or run the selected jobs…", this.again()));
      this.addListKeys(keys, "the selected jobs");
    } else if (!isOpen && this.list.current < this.list.rows.length) {
      const row = this.list.rows[this.list.current];
      const verb = row instanceof GroupRow ? (row as GroupRow).verb : null;
      if (verb !== null) {
        keys.push(new Shortcut("r", verb.label, "ask.verb", verbArg(verb), "List"));
      } else if (this.currentJob !== null) {
        if (!areLocked(this.targets())) {
          keys.push(this.verbKey("r", "Retry or run the job…", this.again()));
          this.addListKeys(keys, "the job");
        }
        keys.push(this.rowKey("d", "Duplicate the job…", "duplicate"));
      }
    }
    return keys;
  }

  /** The job of the row to which the user has moved; null: none. */
  private get currentJob(): ListedJob | null {
    const list = this.list;
    if (!list.isWalked || list.current >= list.rows.length) return null;
    const row = list.rows[list.current];
    return row instanceof JobRow ? (row as JobRow).job : null;
  }

  private targets(): ListedJob[] {
    const jobs = selectedJobs(this);
    const currentJob = this.currentJob;
    return jobs.length > 0 || currentJob === null ? jobs : [currentJob];
  }

  /** Returns retry or run-now: the action that makes the selected jobs, or the current job, run soon. */
  private again(): string {
    return this.list.every ? verbsForEvery(this)[0] : againOf(this.targets());
  }

  private rowKey(key: string, label: string, verb: string): Shortcut {
    return new Shortcut(key, label, "jobs.row", verb, "List");
  }

  /** `jobs`: the words for the jobs in the shortcuts' labels. */
  private addListKeys(keys: Shortcut[], jobs: string): void {
    for (let i = 0; i < jobActions.length; i++) {
      const action = jobActions[i];
      if (!action.hasListKey) continue;
      keys.push(this.verbKey(action.command.key, withJobs(action.ask, jobs) + "…", action.name));
    }
  }

  private verbKey(key: string, label: string, verb: string): Shortcut {
    return new Shortcut(key, label, dialogFor(this, verb), aboutOf(this, verb), "List");
  }

  override aim(_m: Model, dialog: OpenDialog): void {
    dialog.jobs = this.targets();
  }
}
