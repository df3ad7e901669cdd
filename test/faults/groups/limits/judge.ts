// Checks in the log of a whole test that each limit was kept. From the log it computes the greatest number of the
// limit's jobs that ran at once, and the greatest number of these jobs that started in one period.

import { mostAtOnce, mostWithin, type Span } from "../../../worker/most.ts";
import type { Stand } from "../../field/stand.ts";
import type { LeaseWatch } from "./lease-watch.ts";
import { type CountedJobs, counted } from "./limits.ts";

/** The maximum number of runs that a message lists. */
const SHOWN = 12;

export function judgeLimits(stand: Stand, watch: LeaseWatch): void {
  const spans = watch.spans(stand.runs());
  for (const one of counted) {
    const own = spans.filter(({ n }) => one.isOf(n));
    judgeConcurrency(stand, one, own);
    judgeRate(stand, one, own);
  }
}

function judgeConcurrency(
  stand: Stand,
  { name, limit }: CountedJobs,
  spans: readonly Span[],
): void {
  const { concurrency } = limit;
  if (concurrency === undefined || concurrency === null) return;
  const { most, at } = mostAtOnce(spans);
  const bound = { most: concurrency, unit: "" } as const;
  stand.figure(
    `most running jobs of the limit ${limit.name} (allowed: ${concurrency})`,
    most,
    bound,
  );
  if (most <= concurrency) return;
  const running = spans.filter(({ from, to }) => from <= at && to > at);
  const list = running
    .slice(-SHOWN)
    .map(({ n, by, from }) => `${n} on ${by} for ${Math.round(at - from)} ms`);
  stand.problem(
    `${name}: ${most} jobs ran at ${at.toFixed(1)}, allowed: ${concurrency}; the last ones: ${list.join("; ")}`,
  );
}

function judgeRate(stand: Stand, { name, limit }: CountedJobs, spans: readonly Span[]): void {
  const { rate } = limit;
  if (rate === undefined || rate === null) return;
  const starts = spans.map(({ from }) => from);
  const allowed = rate.limit + (rate.burst ?? 1);
  const { most, at } = mostWithin(starts, rate.perMs);
  const bound = { most: allowed, unit: "" } as const;
  stand.figure(`most starts of ${name} in any second (allowed: ${allowed})`, most, bound);
  if (most <= allowed) return;
  const within = spans.filter(({ from }) => from >= at && from < at + rate.perMs);
  const by = Map.groupBy(within, (span) => span.by);
  const list = [...by].map(([member, all]) => `${all.length} on ${member}`);
  stand.problem(`${name}: ${most} started from ${at.toFixed(1)} on: ${list.join(", ")}`);
}
