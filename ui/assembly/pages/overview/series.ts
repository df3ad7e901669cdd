/** Reads the counts of the horizon by condition and by bucket. */
import { HorizonSeries } from "../../generated/records";

export function countsIn(series: HorizonSeries, bucket: i32): i64 {
  return (
    series.ready[bucket] +
    series.blocked[bucket] +
    series.retrying[bucket] +
    series.scheduled[bucket] +
    series.failed[bucket]
  );
}

export function countsOf(series: HorizonSeries, name: string): i64[] {
  if (name === "ready") return series.ready;
  if (name === "blocked") return series.blocked;
  if (name === "retrying") return series.retrying;
  return name === "scheduled" ? series.scheduled : series.failed;
}
