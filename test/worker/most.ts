// Measures of limits: the most runs at one moment, and the most starts within a window.

/** A run as a limit counts it. The times are of machineTime(). */
export interface Span {
  readonly n: string;
  readonly by: string;
  readonly from: number;
  readonly to: number;
}

/** The largest number of runs or starts, and when it was first reached; for a window, when the window begins. */
export interface Most {
  readonly most: number;
  readonly at: number;
}

/** Returns the most runs at one moment. A run that ends at the moment of another one's start no longer counts. */
export function mostAtOnce(spans: readonly Span[]): Most {
  const counts = countsOf(spans);
  return counts.reduce((most, [at, count]) => (count > most.most ? { most: count, at } : most), {
    most: 0,
    at: 0,
  });
}

/** Returns the moments at which the number of runs changes, in order, with the number from then on. */
export function countsOf(spans: readonly Span[]): [at: number, count: number][] {
  const steps = spans
    .flatMap(({ from, to }): [number, number][] =>
      to > from
        ? [
            [from, 1],
            [to, -1],
          ]
        : [],
    )
    .sort(([a, up], [b, other]) => a - b || up - other);
  let count = 0;
  return steps.map(([at, step]) => {
    count += step;
    return [at, count];
  });
}

/** The most starts in any window of `ms`, and when it begins. */
export function mostWithin(starts: readonly number[], ms: number): Most {
  const sorted = starts.toSorted((a, b) => a - b);
  let most: Most = { most: 0, at: 0 };
  let first = 0;
  for (const [index, start] of sorted.entries()) {
    while (start - (sorted[first] ?? start) >= ms) first++;
    const count = index - first + 1;
    if (count > most.most) most = { most: count, at: sorted[first] ?? start };
  }
  return most;
}

/** The mean number of runs between two moments. */
export function meanAtOnce(spans: readonly Span[], from: number, to: number): number {
  const inside = ({ from: a, to: b }: Span) => Math.max(0, Math.min(b, to) - Math.max(a, from));
  return spans.reduce((sum, span) => sum + inside(span), 0) / (to - from);
}
