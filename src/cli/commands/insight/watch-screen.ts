// What `worker watch` shows: one screen of text, made anew of what is known at a moment.

import { conditions, shownConditions } from "../../../domain/condition.ts";
import { ageText } from "../../../domain/portable/ages.ts";
import type { Value } from "../../../domain/value.ts";
import { valueText } from "../../../domain/words.ts";
import type { Incidents } from "../../../insight/incidents/incident.ts";
import type { QueueSnapshot } from "../../../insight/known/queue-snapshot.ts";
import { countWorkers } from "../../../insight/known/queue-snapshot.ts";
import { inCondition, sumOf } from "../../../insight/stats/tally.ts";

export interface Shown {
  readonly known: QueueSnapshot;
  /** null: they could not be read. */
  readonly incidents: Incidents | null;
  readonly taskNames: ReadonlyMap<number, string>;
  readonly schema: string;
}

/** `rows` and `columns` of the terminal: nothing is shown beyond them. */
export function screenOf(shown: Shown, rows: number, columns: number): string[] {
  const { known, incidents, schema } = shown;
  const { counts, gauge } = known;
  const head = [
    `worker watch  ${schema}  ${counts.asOf.replace(/\.\d+Z$/, "Z")}   q or Ctrl-C ends`,
    "",
    shownConditions.map((one) => `${one} ${valueText(counts.conditions[one])}`).join("   "),
    `${agesLine(known, gauge.nowMs)}   ${workersLine(known)}`,
    ratesLine(known),
    "",
    ...incidentLines(incidents),
    "",
  ];
  const room = Math.max(0, rows - head.length - 2);
  const lines = [...head, ...taskLines(shown, room)];
  return lines.slice(0, rows - 1).map((line) => line.slice(0, columns));
}

function agesLine({ counts }: QueueSnapshot, nowMs: number): string {
  const age = (time: string | null) => (time === null ? "-" : ageText(nowMs - Date.parse(time)));
  return `oldest due ${age(counts.oldestDueAt)}   longest running ${age(counts.longestRunningAt)}`;
}

function workersLine(known: QueueSnapshot): string {
  const { alive, silent, unknown } = countWorkers(known);
  return `workers ${alive} alive, ${silent} not responding, ${unknown} without heartbeats`;
}

const counters = ["added", "done", "failed"] as const;

/** Before a minute has been watched: what happened meanwhile, for so long. */
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
  return parts.length === 0 ? "in the last minute: not known yet" : parts.join("   ");
}

const MOST_INCIDENTS = 5;

function incidentLines(incidents: Incidents | null): string[] {
  if (incidents === null) return ["what needs a person could not be read"];
  const shown = incidents.incidents.slice(0, MOST_INCIDENTS);
  const more = incidents.more + incidents.incidents.length - shown.length;
  return [
    incidents.verdict,
    ...shown.map(
      ({ level, title, sentence }) => `${level === "bad" ? "!" : "-"} ${title}: ${sentence}`,
    ),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

/** Those with most to do first. */
function taskLines({ known: { names }, taskNames }: Shown, room: number): string[] {
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
      taskNames.get(id) ?? `task ${id}`,
      ...shownConditions.map((one) =>
        valueText(names.value(tally, inCondition[one]) satisfies Value),
      ),
    ]),
  ];
  const widths =
    table[0]?.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0))) ?? [];
  return table.map((row) =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join("  "),
  );
}
