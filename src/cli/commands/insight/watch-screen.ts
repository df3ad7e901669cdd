// The screen of `worker watch`, rendered from the latest snapshot.

import { conditions, shownConditions } from "../../../domain/condition.ts";
import { ageText } from "../../../domain/portable/ages.ts";
import type { Value } from "../../../domain/value.ts";
import { valueText } from "../../../domain/words.ts";
import type { Incidents } from "../../../insight/incidents/incident.ts";
import type { QueueSnapshot } from "../../../insight/snapshot/queue-snapshot.ts";
import { countWorkers } from "../../../insight/snapshot/queue-snapshot.ts";
import { inCondition, sumOf } from "../../../insight/stats/tally.ts";
import { printable } from "../../output/printable.ts";
import { cutTo, widthOf } from "../../output/table.ts";

export interface ScreenData {
  readonly snapshot: QueueSnapshot;
  /** The incidents; null if reading them has exceeded the time limit. */
  readonly incidents: Incidents | null;
  readonly taskNames: ReadonlyMap<number, string>;
  readonly schema: string;
}

/** Returns at most `rows` - 1 lines, each cut to the width `columns`. The terminal's last row is left for an error. */
export function screenOf(shown: ScreenData, rows: number, columns: number): string[] {
  const { snapshot, incidents, schema } = shown;
  const { counts, gauge } = snapshot;
  const head = [
    `worker watch  ${schema}  ${counts.asOf.replace(/\.\d+Z$/, "Z")}   q or Ctrl-C quits`,
    "",
    shownConditions.map((one) => `${one} ${valueText(counts.conditions[one])}`).join("   "),
    `${agesLine(snapshot, gauge.nowMs)}   ${workersLine(snapshot)}`,
    ratesLine(snapshot),
    "",
    ...incidentLines(incidents),
    "",
  ];
  const room = Math.max(0, rows - head.length - 2);
  const lines = [...head, ...taskLines(shown, room)];
  return lines.slice(0, rows - 1).map((line) => cutTo(printable(line), columns));
}

function agesLine({ counts }: QueueSnapshot, nowMs: number): string {
  const age = (time: string | null) => (time === null ? "-" : ageText(nowMs - Date.parse(time)));
  return `oldest due ${age(counts.oldestDueAt)}   longest running ${age(counts.longestRunningAt)}`;
}

function workersLine(snapshot: QueueSnapshot): string {
  const { alive, stale, unknown } = countWorkers(snapshot);
  return `workers ${alive} alive, ${stale} not responding, ${unknown} without heartbeats`;
}

const counters = ["added", "done", "failed"] as const;

/**
 * Returns a line with the numbers of jobs added, done and failed in the last minute. If the number of added or done
 * jobs is unknown, the line has the number since the first reading instead, if the readings cover at least a second.
 */
function ratesLine({ rates, seen }: QueueSnapshot): string {
  const since: Partial<Record<(typeof counters)[number], number>> = seen;
  const listed = (values: Partial<Record<(typeof counters)[number], number | null>>) =>
    counters.flatMap((one) => (values[one] == null ? [] : [`${values[one]} ${one}`])).join("   ");
  const minute = listed(rates);
  const unknown = counters.filter((one) => rates[one] === null);
  const meanwhile = listed(Object.fromEntries(unknown.map((one) => [one, since[one]])));
  const isEarly = seen.ms >= 1_000 && meanwhile !== "";
  const parts = [
    ...(minute === "" ? [] : [`in the last minute: ${minute}`]),
    ...(isEarly ? [`in ${ageText(seen.ms)}: ${meanwhile}`] : []),
  ];
  return parts.length === 0 ? "in the last minute: no data yet" : parts.join("   ");
}

const MAX_INCIDENTS = 5;

function incidentLines(incidents: Incidents | null): string[] {
  if (incidents === null) return ["incidents could not be read"];
  const shown = incidents.incidents.slice(0, MAX_INCIDENTS);
  const more = incidents.more + incidents.incidents.length - shown.length;
  return [
    incidents.verdict,
    ...shown.map(
      ({ level, title, sentence }) => `${level === "bad" ? "!" : "-"} ${title}: ${sentence}`,
    ),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

/**
 * Returns the table of the tasks, those with the most jobs first. `room`: the number of lines that fit on the screen.
 * The table always has its heading.
 */
function taskLines({ snapshot: { names }, taskNames }: ScreenData, room: number): string[] {
  const busy = [...names.tallies.tasks]
    .map(([id, tally]) => ({
      id,
      tally,
      jobs: sumOf(
        tally.counts,
        conditions.flatMap((one) => inCondition[one]),
      ),
    }))
    .sort((a, b) => b.jobs - a.jobs)
    .slice(0, Math.max(0, room - 1));
  const table = [
    ["TASK", ...shownConditions.map((one) => one.toUpperCase())],
    ...busy.map(({ id, tally }) => [
      printable(taskNames.get(id) ?? `task ${id}`),
      ...shownConditions.map((one) =>
        valueText(names.value(tally, inCondition[one]) satisfies Value),
      ),
    ]),
  ];
  const widths = table[0]?.map((_, at) => Math.max(...table.map((row) => widthOf(row[at] ?? ""))));
  return table.map((row) =>
    row
      .map((cell, at) => {
        const padding = " ".repeat(Math.max(0, (widths?.[at] ?? 0) - widthOf(cell)));
        return at === 0 ? `${cell}${padding}` : `${padding}${cell}`;
      })
      .join("  "),
  );
}
