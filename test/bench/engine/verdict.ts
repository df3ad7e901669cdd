// Computes the rows of the table of results: our median, the median of the best rival, the ratio of these two, and
// whether the target is met. The ratio of a paired row is the median of the ratios of its rounds.
import type { Figures, Row } from "./experiment.ts";
import { median } from "./statistics.ts";

export interface Line {
  readonly row: string;
  readonly rival: string;
  readonly ours: string;
  readonly ratio: string;
  readonly target: string;
  readonly verdict: "met" | "missed" | "not built" | "failed" | "no rival" | "";
}

export function judge(row: Row, figures: Figures): Line {
  const { better, metric, target, unit } = row;
  const sign = better === "more" ? "≥" : "≤";
  const isRatio = target !== null && "ratio" in target;
  const limit = target === null ? null : isRatio ? target.ratio : target.value;
  const aim = limit === null ? "" : `${sign} ${limit}${isRatio ? "×" : ` ${unit}`}`;
  const base = { row: row.name, target: aim.trim() };
  const ours = figureOf(figures, row.ours, metric);
  const rival = bestOf(row, figures);
  const theirs = rival === null ? "" : figure(rival, unit);
  if (ours === null) {
    const verdict = figures.get(row.ours) === "not built" ? "not built" : "failed";
    return { ...base, rival: theirs, ours: "", ratio: "", verdict };
  }
  if (rival === null && isRatio) {
    return { ...base, rival: "", ours: figure(ours, unit), ratio: "", verdict: "no rival" };
  }
  const ratio = rival === null ? null : row.isPaired ? pairedRatio(row, figures) : ours / rival;
  const judged = isRatio ? (ratio ?? Number.NaN) : ours;
  const isMet = limit !== null && (better === "more" ? judged >= limit : judged <= limit);
  return {
    ...base,
    rival: theirs,
    ours: figure(ours, unit),
    ratio: ratio === null ? "" : `${row.isPaired ? ratio.toFixed(3) : short(ratio)}×`,
    verdict: limit === null ? "" : isMet ? "met" : "missed",
  };
}

function pairedRatio({ ours, rivals, metric }: Row, figures: Figures): number {
  const theirs = valuesOf(figures, rivals[0] ?? "", metric);
  return median(
    valuesOf(figures, ours, metric).map((value, round) => value / (theirs[round] ?? Number.NaN)),
  );
}

function bestOf(row: Row, figures: Figures): number | null {
  const values = row.rivals
    .map((rival) => figureOf(figures, rival, row.metric))
    .filter((value) => value !== null);
  if (values.length === 0) return null;
  return row.better === "more" ? Math.max(...values) : Math.min(...values);
}

function figureOf(figures: Figures, contender: string, metric: string): number | null {
  const values = valuesOf(figures, contender, metric);
  return values.length === 0 ? null : median(values);
}

function valuesOf(figures: Figures, contender: string, metric: string): readonly number[] {
  const metrics = figures.get(contender);
  return (metrics instanceof Map ? metrics.get(metric) : undefined) ?? [];
}

function figure(value: number, unit: string): string {
  return `${short(value)} ${unit}`.trim();
}

function short(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(2)));
}

/** Returns the lines as a Markdown table. */
export function table(lines: readonly Line[]): string {
  const head = ["", "rival", "ours", "ratio", "target", ""];
  const cells = lines.map((line) => [
    line.row,
    line.rival,
    line.ours,
    line.ratio,
    line.target,
    line.verdict === "missed" ? "**missed**" : line.verdict,
  ]);
  const rows = [head, head.map((_, column) => (column === 0 ? "---" : "--:")), ...cells];
  return rows.map((row) => `| ${row.join(" | ")} |`).join("\n");
}
