// The list of measures, in the order of the table. Measures that write come last.
import type { Measure } from "../measure.ts";
import { exporting } from "./export.ts";
import {
  census,
  countOfFilter,
  database,
  errorGroups,
  horizon,
  inCommon,
  incidents,
  queues,
  sampledCounts,
  tasks,
  why,
  workers,
} from "./insight.ts";
import { clientGone, keyset, offsets, rareFilters, text } from "./lists.ts";
import { hugePayload, killed, operations } from "./operations.ts";
import { overview, watching } from "./overview.ts";
import { manyViewers } from "./viewers.ts";
import { fetchesBeside, slowloris } from "./workers-beside.ts";

export const measures: readonly Measure[] = [
  // `watching` is first: after a request for metrics, an admin reads for another minute, and `watching` would count
  // the CPU time of these reads.
  ...[watching, overview, manyViewers],
  ...[sampledCounts, census, countOfFilter],
  ...[keyset, rareFilters, offsets, text, clientGone],
  ...[horizon, errorGroups, inCommon, why, queues, tasks, workers, incidents, database],
  ...[exporting, slowloris, fetchesBeside, hugePayload, operations, killed],
];
