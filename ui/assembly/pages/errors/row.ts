/** The rows and columns of the list of error groups, and the order of the groups. */
import { agoElement } from "../../controls/age";
import { badge, link } from "../../controls/button";
import { sparkline } from "../../controls/spark";
import { cell } from "../../controls/table";
import { countNode } from "../../controls/value";
import { errorLabel } from "../../kit/group-row";
import { Column, Row } from "../../kit/row";
import { Node, nothing } from "../../lib/node";
import { sortByKeys } from "../../lib/number";
import { errorPath } from "../../model/links";
import { Model } from "../../model/model";
import { ErrorGroup, valueOf } from "../../parts/error-group";
import { cutName } from "../../parts/exact-name";

export const COLUMNS: Column[] = [
  new Column("", "Error", "", ""),
  new Column("by w-opt", "Tasks", "", ""),
  new Column("num q-num", "Failed", "-failed", "failed"),
  new Column("num q-num", "Retrying", "-retrying", "retrying"),
  new Column("num w5 w-mid", "First", "first", "-first"),
  new Column("num w5 w-mid", "Last", "-last", "last"),
  new Column("graph w-mid", "Last 3 h", "", ""),
];

export class ErrorRow extends Row {
  constructor(readonly group: ErrorGroup) {
    super(group.key);
  }

  override get name(): string {
    return this.group.label;
  }

  override get path(): string {
    return errorPath(this.group.key);
  }

  /**
   * Returns `mail` if that is the only task, and `mail +2` if there are three tasks. The names of all tasks are not
   * shown, because a long list is cut in its middle, and would then look like one name.
   */
  private get tasks(): string {
    const tasks = this.group.tasks;
    return tasks.length > 1 ? `${tasks[0]} +${tasks.length - 1}` : tasks.join("");
  }

  override cells(m: Model): Node[] {
    const group = this.group;
    const trend = group.trend;
    return [
      cell("", [
        link(this.path, "row", [
          errorLabel(group.label),
          group.isNew ? badge("new", "red") : nothing,
        ]),
      ]),
      cell("dim w-opt", [cutName(this.tasks, "")]),
      cell("num", [countNode(valueOf(group.failed), "")]),
      cell("num", [countNode(valueOf(group.retrying), "")]),
      cell("num dim w-mid", [agoElement(group.first, m.times)]),
      cell("num dim w-mid", [agoElement(group.last, m.times)]),
      cell("vis graph w-mid", [
        trend.length > 0 ? sparkline(trend, "failed", "failures, last 3 h", 96, 18) : nothing,
      ]),
    ];
  }
}

/**
 * Returns the groups in the order of a column; a minus before the column's name reverses the order. Groups with an
 * unknown value are last. Groups with equal values keep their order.
 */
export function sortGroups(groups: ErrorGroup[], by: string): ErrorGroup[] {
  const down = by.startsWith("-");
  const column = down ? by.substring(1) : by;
  const list = groups.slice(0);
  const keys: f64[] = [];
  for (let i = 0; i < list.length; i++) {
    const key = keyOf(list[i], column);
    keys.push(isNaN(key) ? Infinity : down ? -key : key);
  }
  sortByKeys(list, keys);
  return list;
}

function keyOf(group: ErrorGroup, column: string): f64 {
  if (column === "retrying") return <f64>group.retryingCount;
  if (column === "first") return group.first;
  return column === "last" ? group.last : <f64>group.failedCount;
}
