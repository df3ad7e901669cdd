/**
 * The list of tasks: for each task the numbers of its jobs, and the number of live workers that have the task. By
 * default, the tasks with the most problems come first (`worst` in src/insight/lists/list-tasks.ts).
 */
import { emptyWith } from "../../controls/empty";
import { CODE } from "../../controls/icon";
import { pageHeadWith } from "../../controls/panel";
import { readTaskList } from "../../generated/records";
import { ListPage } from "../../kit/list-page";
import { listCountText, listView, newsPill, nothingFound, searchBox } from "../../kit/list-view";
import { RowPage, rowPage } from "../../kit/row";
import { writeButton } from "../../kit/verb";
import { JsonReader } from "../../lib/json-reader";
import { box, leaf, Node, nothing } from "../../lib/node";
import { Mark, Model, noMark } from "../../model/model";
import { Pending } from "../../model/requests";
import { Shortcut } from "../../model/shortcut";
import { withLimit } from "../../operations/limiting";
import { withPause } from "../../operations/pausing";
import { Acknowledgements } from "../../parts/pause";
import { COLUMNS, TaskRow } from "./row";

export class TasksPage extends ListPage {
  private acknowledged: Acknowledgements = new Acknowledgements("tasks");

  constructor() {
    super("tasks", "/tasks");
    this.label = "Tasks";
    this.drawing = CODE;
    this.letter = "t";
    this.one = "task";
    this.many = "tasks";
    this.heads = COLUMNS;
    this.isSelectable = false;
    this.usualSort = "worst";
    this.rank = "by severity";
    this.everyMs = 15000;
  }

  /** Whether a task on this page of the list is paused. */
  private get hasPause(): bool {
    const rows = this.list.rows;
    for (let i = 0; i < rows.length; i++) if (rows[i].isPaused) return true;
    return false;
  }

  override refresh(m: Model): void {
    super.refresh(m);
    this.acknowledged.follow(m, this.hasPause);
  }

  override onAnswer(m: Model, request: Pending, body: string): void {
    if (request.topic === this.acknowledged.data.topic) this.acknowledged.onAnswer(m, body);
    else super.onAnswer(m, request, body);
  }

  override onFailure(m: Model, request: Pending, status: i32, reason: string): void {
    if (request.topic === this.rows.topic) super.onFailure(m, request, status, reason);
  }

  override mark(m: Model): Mark {
    const unknown = m.facts.incidentsOf("unsupported_task");
    return unknown > 0 ? new Mark(`${unknown} unknown`, "red") : noMark;
  }

  override source(_m: Model): string {
    return this.listOf("api/tasks");
  }

  override read(body: string): RowPage {
    const r = new JsonReader(body);
    const list = readTaskList(r);
    const page = rowPage(r, list.nextCursor);
    for (let i = 0; i < list.tasks.length; i++) page.rows.push(new TaskRow(list.tasks[i]));
    page.count = list.count;
    return page;
  }

  override shortcuts(m: Model): Shortcut[] {
    return withLimit(m, this.list, withPause(m, this.list, super.shortcuts(m)));
  }

  override view(m: Model): Node {
    const add = writeButton(m, "Add a job…", "ask.add", "", "");
    const none =
      this.address.value("search").length > 0
        ? nothingFound(this)
        : emptyWith("No tasks", "A task is listed once it has a job.", [add]);
    return box("div", "tasks-page", [
      pageHeadWith("Tasks", listCountText(this), [add]),
      box("div", "meta", [searchBox(this, "Find a task by name"), newsPill(this)]),
      listView(m, this, "Tasks", none),
      this.hasPause ? this.acknowledged.view() : nothing,
      leaf("p", "hint", "Workers: how many running workers have this task."),
    ]);
  }
}
