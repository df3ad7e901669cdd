/** Selects a span of the horizon, and opens the list of its jobs. */

import { navigate } from "../../host";
import { queryPath } from "../../model/links";
import { Model } from "../../model/model";
import { Axis } from "./axis";
import { Span } from "./horizon";

/**
 * Handles an event of the pointer. `bucket`: the index of the bucket under the pointer. `what`: `over`, `down`, `up`,
 * or `out` (the pointer has left the chart).
 */
export function dragSpan(m: Model, span: Span, bucket: i32, what: string): void {
  if (what === "out") {
    if (!span.isDragged) span.clear();
    return;
  }
  if (bucket < 0 || bucket >= m.facts.horizon.edges.length - 1) return;
  if (what === "down" || !span.isDragged) span.from = bucket;
  span.to = bucket;
  if (what === "down") span.isDragged = true;
  else if (what === "up" && span.isDragged) openSpan(m, span);
}

/**
 * Handles a key. The first arrow key selects the bucket of the present time. Further arrow keys move the selection by a
 * bucket, or with Shift only its end.
 */
export function keyOnSpan(m: Model, span: Span, stroke: string): void {
  const axis = new Axis(m.facts.horizon);
  if (axis.buckets === 0) return;
  if (stroke === "Escape") span.clear();
  else if (stroke === "Enter") openSpan(m, span);
  else if (!span.isOn) {
    span.from = <i32>(axis.nowAt / axis.pitch);
    span.to = span.from;
  } else {
    const by = stroke.endsWith("Left") ? -1 : 1;
    span.to = max(0, min(span.to + by, axis.buckets - 1));
    if (!stroke.startsWith("Shift")) span.from = span.to;
  }
}

/** Opens the list of the jobs that were or will be due in the span, or failed in it. */
function openSpan(m: Model, span: Span): void {
  if (!span.isOn) return;
  const horizon = m.facts.horizon;
  let failed: i64 = 0;
  let due: i64 = 0;
  for (let i = span.first; i <= span.last; i++) {
    failed += horizon.series.failed[i];
    due += horizon.series.ready[i] + horizon.series.blocked[i];
    due += horizon.series.retrying[i] + horizon.series.scheduled[i];
  }
  const axis = new Axis(horizon);
  const ofDue = axis.query("due", span.first, span.last);
  const ofFailed = axis.query("failed", span.first, span.last);
  // For a span over the whole horizon, axis.query() returns no terms. An empty query finds all jobs.
  const isOne = failed === 0 || ofDue.length === 0;
  const query = isOne ? ofDue : due === 0 ? ofFailed : `${ofDue} or ${ofFailed}`;
  span.clear();
  navigate(queryPath(query), false);
}
