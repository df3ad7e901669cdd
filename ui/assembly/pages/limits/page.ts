/** The list of limits: for each limit what it applies to, how much of it is used, and whether it is full. */
import { commandLine, drawnButton } from "../../controls/button";
import { emptyWith } from "../../controls/empty";
import { GAUGE, PLUS } from "../../controls/icon";
import { pageHeadWith } from "../../controls/panel";
import { shellLine } from "../../forms/shell-line";
import { LimitList, readLimitList } from "../../generated/records";
import { ListPage } from "../../kit/list-page";
import { listView, newsPill } from "../../kit/list-view";
import { RowPage, rowPage } from "../../kit/row";
import { JsonReader } from "../../lib/json-reader";
import { box, leaf, Node, nothing } from "../../lib/node";
import { countText, numberText } from "../../lib/number";
import { Mark, Model, noMark } from "../../model/model";
import { Pending } from "../../model/requests";
import { Shortcut } from "../../model/shortcut";
import { KNOWN, limitKeys, SET, setButton, setKey, setShortcut } from "../../operations/limiting";
import { endBackOff } from "../../parts/limit";
import { COLUMNS, LimitRow } from "./row";

const EXAMPLE = "limit set payments --task charge_card --concurrency 40";

export class LimitsPage extends ListPage {
  private known: LimitList = LimitList.empty();

  constructor() {
    super("limits", "/limits");
    this.label = "Limits";
    this.drawing = GAUGE;
    this.letter = "l";
    this.one = "limit";
    this.many = "limits";
    this.heads = COLUMNS;
    this.isSelectable = false;
    this.searchField = "";
  }

  override mark(m: Model): Mark {
    const count = m.facts.limits.length;
    return count > 0 ? new Mark(numberText(count), "") : noMark;
  }

  override refresh(m: Model): void {
    const all = this.known.limits;
    for (let i = 0; i < all.length; i++) endBackOff(m, all[i]);
    super.refresh(m);
  }

  override source(_m: Model): string {
    return "api/limits";
  }

  override read(body: string): RowPage {
    const r = new JsonReader(body);
    const list = readLimitList(r);
    const page = rowPage(r, null);
    if (r.failed) return page;
    this.known = list;
    for (let i = 0; i < list.limits.length; i++) page.rows.push(new LimitRow(list.limits[i]));
    return page;
  }

  /**
   * Stores the limits in `m.facts`, where other pages read them. The answers to requests that other pages have sent
   * (topic KNOWN) arrive here, too.
   */
  override onAnswer(m: Model, request: Pending, body: string): void {
    if (request.topic === KNOWN) this.read(body);
    else super.onAnswer(m, request, body);
    m.facts.limits = this.known.limits;
  }

  override onFailure(m: Model, request: Pending, status: i32, reason: string): void {
    if (request.topic !== KNOWN) super.onFailure(m, request, status, reason);
  }

  override shortcuts(m: Model): Shortcut[] {
    const keys = super.shortcuts(m);
    const list = this.list;
    if (!m.access.canWrite) return keys;
    if (!list.isWalked || list.current >= list.rows.length) {
      keys.push(setShortcut("", setKey(), "List"));
      return keys;
    }
    return keys.concat(limitKeys((list.rows[list.current] as LimitRow).limit, setKey(), "List"));
  }

  override view(m: Model): Node {
    const none = emptyWith(
      "No limits",
      "A limit sets how many jobs of a task or queue run at once or start in a period.",
      [
        setButton(m, "Set limit…", "", ""),
        commandLine(shellLine(EXAMPLE, m.access.session.schema)),
      ],
    );
    const note = this.known.note;
    return box("div", "limits-page", [
      pageHeadWith("Limits", this.summary(), [
        newsPill(this),
        m.access.canWrite ? drawnButton(PLUS, "Set limit…", SET, "p") : nothing,
      ]),
      listView(m, this, "Limits", none),
      note === null ? nothing : leaf("p", "hint", note + "."),
    ]);
  }

  /** Returns a text such as `5 limits, 1 full, 1 backing off`; empty if there are no limits. */
  private summary(): string {
    const rows = this.list.rows;
    let full = 0;
    let backingOff = 0;
    for (let i = 0; i < rows.length; i++) {
      const limit = (rows[i] as LimitRow).limit;
      if (limit.backingOff !== null) backingOff++;
      else if (limit.state === "full") full++;
    }
    return rows.length === 0
      ? ""
      : countText(rows.length, "limit", "limits") +
          (full > 0 ? `, ${numberText(full)} full` : "") +
          (backingOff > 0 ? `, ${numberText(backingOff)} backing off` : "");
  }
}
