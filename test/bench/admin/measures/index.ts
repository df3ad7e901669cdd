// The list of measures, in the order of the report's table. Measures that change jobs come last.
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
  // `watching` is first. After a request for the overview or the metrics, the benchmark's admin reads a large table for
  // another minute, and `watching` would count the CPU time that PostgreSQL uses for these reads.
  ...[watching, overview, manyViewers],
  ...[sampledCounts, census, countOfFilter],
  ...[keyset, rareFilters, offsets, text, clientGone],
  ...[horizon, errorGroups, inCommon, why, queues, tasks, workers, incidents, database],
  ...[exporting, slowloris, fetchesBeside, hugePayload, operations, killed],
];
