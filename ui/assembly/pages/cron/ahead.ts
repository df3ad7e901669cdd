/**
 * The chart of the next 24 hours. It has a line for each cron entry that runs in this time, up to MAX_LINES lines. The
 * line has a bar for each quarter-hour in which the entry runs.
 */

import { panel } from "../../controls/panel";
import { sparkline } from "../../controls/spark";
import { zoneOffset } from "../../host";
import { Row } from "../../kit/row";
import { box, leaf, Node, nothing } from "../../lib/node";
import { wallText } from "../../lib/time";
import { cutName } from "../../parts/exact-name";
import { CronRow } from "./row";

const QUARTERS = 96;
const STEP_MS: f64 = 10800000;
/** The maximum number of lines. More lines would not be readable. */
const MAX_LINES = 30;

/** Returns `21:00` by the local clock. The axis spans one day, so it needs no dates. */
const hour = (at: f64): string => wallText(at + <f64>zoneOffset(at) * 60000, " ").substring(11, 16);

/**
 * Returns the chart; `nothing` if no entry runs. `from`: the start of the chart. This is the time at which the rows
 * arrived, by the server's clock. `isPart`: whether the list has more entries than `rows`.
 */
export function dayAhead(rows: Row[], from: f64, isPart: bool): Node {
  const lines: Node[] = [];
  let running = 0;
  for (let i = 0; i < rows.length; i++) {
    const entry = (rows[i] as CronRow).entry;
    const runs = entry.quartersAhead;
    if (runs.length === 0) continue;
    if (++running > MAX_LINES) continue;
    const counts = new Array<i64>(QUARTERS).fill(0);
    for (let k = 0; k < runs.length; k++) if (runs[k] < QUARTERS) counts[<i32>runs[k]] = 1;
    const name = entry.identifier;
    const label = `${name} runs in ${runs.length} of the next ${QUARTERS} quarters of an hour`;
    lines.push(cutName(name, ""));
    lines.push(sparkline(counts, "scheduled", label, 960, 8));
  }
  if (lines.length === 0) return nothing;
  const clocks: Node[] = [];
  for (let i = 0; i <= 8; i++) clocks.push(leaf("span", "", hour(from + <f64>i * STEP_MS)));
  const which = isPart ? "schedules on this page" : "schedules";
  const rest = running > MAX_LINES ? `, the first ${MAX_LINES} are shown` : "";
  const summary = `${running} of ${rows.length} ${which} run${rest}`;
  lines.push(box("div", "clocks", clocks));
  return panel("The next 24 hours", summary, [], [box("div", "pb ahead", lines)]);
}
