// A figure is a value that was measured under faults, with its bound. This file lists the figures that are beyond their
// bounds, and formats all figures as a table.

export type Unit = "ms" | "" | "MB" | "jobs/s" | "x";

export interface Bound {
  readonly most?: number;
  readonly least?: number;
  /** The unit of the figure and of its bound. Default: `ms`; the numbers are then printed in seconds. */
  readonly unit?: Unit;
}

export interface Figure {
  readonly what: string;
  /** The mode in which the value was measured; null: the value is independent of modes. */
  readonly mode: string | null;
  readonly value: number;
  readonly bound: Bound;
}

const isBroken = ({ value, bound: { most, least } }: Figure): boolean =>
  (most !== undefined && value > most) || (least !== undefined && value < least);

/** Returns a line for each figure that is beyond its bound. */
export function brokenBounds(figures: readonly Figure[]): string[] {
  return figures.filter(isBroken).map((one) => {
    const { what, mode, value, bound } = one;
    return `${mode ?? "all"}: ${what}: ${printed(value, bound)}, bound ${boundText(bound)}`;
  });
}

const MODES = ["safe", "fast", "beside stock"] as const;

/**
 * Returns a Markdown table with a row for each `what`, and the columns `what`, `bound` and one for each mode. The cell
 * of a mode has the worst value of that mode. If there are several values, their median and number follow. A ✗ follows
 * if one of the values is beyond its bound. Values without a mode are shown in the column `safe`, if that mode has no
 * values of its own.
 */
export function table(figures: readonly Figure[]): string {
  const head = ["what", "bound", ...MODES];
  const rows = [...Map.groupBy(figures, ({ what }) => what)].map(([what, all]) => {
    const bounds = new Set(all.map(({ bound }) => boundText(bound)).filter((text) => text !== ""));
    const ofNone = all.filter(({ mode }) => mode === null);
    const cells = MODES.map((name, index) => {
      const own = all.filter(({ mode }) => mode === name);
      return cell(index === 0 && own.length === 0 ? ofNone : own);
    });
    return [what, [...bounds].join(", "), ...cells];
  });
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

function cell(figures: readonly Figure[]): string {
  const [first] = figures;
  if (first === undefined) return "";
  const { bound } = first;
  const values = figures.map(({ value }) => value).sort((a, b) => a - b);
  const worst = (bound.least === undefined ? values.at(-1) : values[0]) ?? 0;
  const median = values[Math.floor(values.length / 2)] ?? 0;
  const others = values.length > 1 ? ` (${printed(median, bound)} of ${values.length})` : "";
  return `${printed(worst, bound)}${others}${figures.some(isBroken) ? " ✗" : ""}`;
}

function boundText(bound: Bound): string {
  const { most, least } = bound;
  if (most !== undefined) return `≤ ${printed(most, bound)}`;
  return least === undefined ? "" : `≥ ${printed(least, bound)}`;
}

function printed(value: number, { unit = "ms" }: Bound): string {
  if (unit === "ms") return `${(value / 1_000).toFixed(value < 1_000 ? 3 : 1)} s`;
  const digits = Number.isInteger(value) || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)}${unit === "" ? "" : ` ${unit}`}`;
}
