// Functions for tests of limits. They count how many jobs run at once, and how many start within a time window.

/** The time for which a limit counts a run. The times of all spans in a list are milliseconds of one clock. */
export interface Span {
  readonly n: string;
  readonly by: string;
  readonly from: number;
  readonly to: number;
}

/**
 * The largest number of runs at one moment, or of starts in one window. `at`: the first moment with this number of
 * runs, or the first start in the window.
 */
export interface Most {
  readonly most: number;
  readonly at: number;
}

/** Returns the largest number of runs at one moment. At the moment of its end, a run no longer counts. */
export function mostAtOnce(spans: readonly Span[]): Most {
  const counts = countsOf(spans);
  return counts.reduce((most, [at, count]) => (count > most.most ? { most: count, at } : most), {
    most: 0,
    at: 0,
  });
}

/**
 * Returns the starts and ends of runs in order of time: each with its time, and with the number of running runs after
 * it. Leaves out runs without a duration.
 */
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

/** Returns the largest number of starts within any `ms` milliseconds. */
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

/** Returns the mean number of runs between two moments. */
export function meanAtOnce(spans: readonly Span[], from: number, to: number): number {
  const inside = ({ from: a, to: b }: Span) => Math.max(0, Math.min(b, to) - Math.max(a, from));
  return spans.reduce((sum, span) => sum + inside(span), 0) / (to - from);
}
