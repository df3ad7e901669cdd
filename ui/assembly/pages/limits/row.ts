/** The row of one limit in the list: what it limits, how much of it is used, and how many jobs wait because of it. */
import { link } from "../../controls/button";
import { DOTS, icon } from "../../controls/icon";
import { menu } from "../../controls/menu";
import { cutText } from "../../controls/middle";
import { cell } from "../../controls/table";
import { ListedLimit } from "../../generated/records";
import { Column, Row } from "../../kit/row";
import { Node, nothing } from "../../lib/node";
import { limitPath } from "../../model/links";
import { Model } from "../../model/model";
import { LIMIT, removeButton, setButton } from "../../operations/limiting";
import { cutName } from "../../parts/exact-name";
import { atOnce, limitState, rateCell, setText, targetText, waitingOf } from "../../parts/limit";

export const COLUMNS: Column[] = [
  new Column("", "Limit", "", ""),
  new Column("w5 w-mid", "At once", "", ""),
  new Column("rate", "Rate", "", ""),
  new Column("num w3", "Waiting", "", ""),
  new Column("w7", "State", "", ""),
  new Column("w6 w-max", "Set by", "", ""),
  new Column("num w6", "Action", "", ""),
];

export class LimitRow extends Row {
  constructor(readonly limit: ListedLimit) {
    super(limit.name);
  }

  override get name(): string {
    return LIMIT + this.limit.name;
  }

  override get path(): string {
    return limitPath(this.limit.name);
  }

  override cells(m: Model): Node[] {
    const limit = this.limit;
    const name = limit.name;
    const cause = limit.cause;
    const actions = m.access.canWrite
      ? [
          setButton(m, "Change…", LIMIT + name, "s"),
          menu("More actions: " + name, [icon(DOTS)], [removeButton(m, name, "s q")]),
        ]
      : [];
    return [
      cell("", [
        link(this.path, "name cut", [cutName(name, "")]),
        cutName(targetText(limit), "sub"),
      ]),
      cell("w-mid", atOnce(limit)),
      cell("rate", rateCell(limit)),
      cell("num", [waitingOf(limit)]),
      cell("", [limitState(m, limit), cause === null ? nothing : cutText(cause, "sub")]),
      cell("dim w-max", [setText(m, limit)]),
      cell("num vis", actions),
    ];
  }
}
