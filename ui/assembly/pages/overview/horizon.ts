/** The chart of all jobs that are not locked, by the time at which they failed, were due or will be due. */

import { spanText } from "../../controls/age";
import { rect, tenth } from "../../controls/spark";
import { row, table } from "../../controls/table";
import { seriesOf } from "../../generated/conditions";
import { Horizon } from "../../generated/records";
import { Attr, attr, box, cls, el, key, leaf, Node, text } from "../../lib/node";
import { numberText } from "../../lib/number";
import { Axis, HIGH, TOP, WIDE } from "./axis";

/** The conditions of jobs in a bar, from the axis up. */
export const DRAWN: string[] = ["ready", "blocked", "failed", "scheduled", "retrying"];

/** The selected buckets, or the bucket under the pointer; `from` and `to` are -1 if there are none. */
export class Span {
  from: i32 = -1;
  to: i32 = -1;
  /** Whether the pointer is down. If so, only `to` follows the pointer. */
  isDragged: bool = false;

  get isOn(): bool {
    return this.from >= 0;
  }

  get first(): i32 {
    return min(this.from, this.to);
  }

  get last(): i32 {
    return max(this.from, this.to);
  }

  clear(): void {
    this.from = -1;
    this.to = -1;
    this.isDragged = false;
  }
}

/** The chart. `nowWord`: the label of the line between past and future. */
export function horizonChart(horizon: Horizon, span: Span, nowWord: string): Node {
  const axis = new Axis(horizon);
  const parts: Node[] = [];
  for (let i = 0; i < axis.ticks.length; i++) parts.push(grid(axis.ticks[i], axis));
  for (let i = 0; i < axis.buckets; i++) parts.push(column(horizon, axis, i, span));
  parts.push(line("axis", 0, HIGH, WIDE, HIGH));
  axisLabels(parts, axis);
  parts.push(line("nowline", axis.nowAt, 6, axis.nowAt, HIGH + 5));
  parts.push(label("now", axis.nowAt, HIGH + 18, "middle", nowWord));
  parts.push(label("lab", axis.nowAt - 10, 12, "end", "← due or failed"));
  parts.push(label("lab", axis.nowAt + 10, 12, "start", "will run →"));
  const chart = el(
    "svg",
    [attr("viewBox", `0 0 ${<i32>WIDE} 172`), attr("aria-hidden", "true")],
    parts,
  );
  return el(
    "div",
    [
      cls("hz"),
      attr("id", "horizon"),
      attr("role", "group"),
      attr("aria-label", "Horizon: arrows select a time, with shift a span, Enter shows its jobs"),
      attr("tabindex", "0"),
      attr("data-key", "overview.horizon"),
      attr("data-keys", "ArrowLeft ArrowRight Shift+ArrowLeft Shift+ArrowRight Enter Escape"),
      attr("data-drag", "overview.span"),
      attr("data-start", "0.46"),
    ],
    [chart, tip(horizon, axis, span)],
  );
}

/** One bucket: the area for the pointer, and a bar. */
function column(horizon: Horizon, axis: Axis, index: i32, span: Span): Node {
  const x = axis.left(index);
  const isIn = span.isOn && index >= span.first && index <= span.last;
  const parts: Node[] = [rect(isIn ? "band on" : "band", x, 0, axis.pitch, HIGH)];
  let y = HIGH;
  for (let d = 0; d < DRAWN.length; d++) {
    const count = seriesOf(horizon.series, DRAWN[d])[index];
    if (count <= 0) continue;
    // Even a single job is visible, however many jobs other buckets have.
    const height = max((<f64>count / axis.most) * (HIGH - TOP), 1.5);
    y -= height;
    parts.push(rect("bar f-" + DRAWN[d], x + 0.6, y, axis.pitch - 1.6, max(height - 0.6, 1)));
  }
  const attrs: Attr[] = [key(index.toString()), attr("data-bucket", index.toString())];
  return el("g", attrs, parts);
}

function grid(count: i64, axis: Axis): Node {
  const y = HIGH - (<f64>count / axis.most) * (HIGH - TOP);
  const isTop = count === axis.ticks[axis.ticks.length - 1];
  return el(
    "g",
    [],
    [
      line("grid", 0, y, WIDE, y),
      label("", 0, y - 4, "start", axis.short(count) + (isTop ? " jobs" : "")),
    ],
  );
}

function axisLabels(parts: Node[], axis: Axis): void {
  const marks: f64[] = [86400, 21600, 3600, 600, 60];
  for (let i = 0; i < marks.length; i++) {
    const words = spanText(marks[i] * 1000);
    parts.push(label("", axis.at(-marks[i]), HIGH + 18, "middle", words + " ago"));
    parts.push(label("", axis.at(marks[i]), HIGH + 18, "middle", "in " + words));
  }
}

function tip(horizon: Horizon, axis: Axis, span: Span): Node {
  if (!span.isOn) return el("div", [cls("tip-none"), attr("role", "status")], []);
  const middle = (axis.left(span.first) + axis.left(span.last + 1)) / 2 / WIDE;
  const place = <i32>Math.round(min(max(middle, 0.1), 0.88) * 20);
  return el(
    "div",
    [cls(`tipbox at${place}`), attr("role", "status")],
    [
      leaf("b", "", axis.span(span.first, span.last)),
      el("br", [], []),
      text(spanCounts(horizon, span)),
    ],
  );
}

/** Returns a text such as `286 failed · 58 blocked`, `≈ 286 failed · ≈ 58 blocked (± 12)` or `no jobs`. */
export function spanCounts(horizon: Horizon, span: Span): string {
  const parts: string[] = [];
  let error: f64 = 0;
  for (let i = span.first; i <= span.last; i++)
    error += <f64>horizon.error[i] * <f64>horizon.error[i];
  for (let d = DRAWN.length - 1; d >= 0; d--) {
    let sum: i64 = 0;
    const counts = seriesOf(horizon.series, DRAWN[d]);
    for (let i = span.first; i <= span.last; i++) sum += counts[i];
    if (sum > 0) parts.push(`${error > 0 ? "≈ " : ""}${numberText(sum)} ${DRAWN[d]}`);
  }
  if (parts.length === 0) return "no jobs";
  return parts.join(" · ") + (error > 0 ? ` (± ${numberText(<i64>Math.sqrt(error))})` : "");
}

const COLUMNS: string[] = ["=Time", "=Jobs"];

/** The numbers of the chart as a table, for screen readers. */
export function horizonTable(horizon: Horizon): Node {
  const axis = new Axis(horizon);
  const rows: Node[] = [];
  for (let i = 0; i < axis.buckets; i++) {
    const span = new Span();
    span.from = i;
    span.to = i;
    const content = spanCounts(horizon, span);
    if (content === "no jobs") continue;
    const time = el("th", [attr("scope", "row")], [text(axis.span(i, i))]);
    rows.push(row(i.toString(), "", [time, leaf("td", "", content)]));
  }
  // The class `sr` is on a box, because a table would ignore the width that the class sets.
  return box("div", "sr", [table("", "Horizon as a table", COLUMNS, rows)]);
}

function line(name: string, x1: f64, y1: f64, x2: f64, y2: f64): Node {
  return el(
    "line",
    [
      cls(name),
      attr("x1", tenth(x1)),
      attr("y1", tenth(y1)),
      attr("x2", tenth(x2)),
      attr("y2", tenth(y2)),
    ],
    [],
  );
}

function label(name: string, x: f64, y: f64, anchor: string, words: string): Node {
  return el(
    "text",
    [cls(name), attr("x", tenth(x)), attr("y", tenth(y)), attr("text-anchor", anchor)],
    [text(words)],
  );
}
