// Incidents and the horizon as events of the feed.

import { DEFAULT_BUCKETS, type Insight } from "../../insight/insight.ts";
import { horizonJson, incidentsJson } from "../../insight/json/insight-json.ts";
import type { FeedSource } from "../feed/feed.ts";

const INTERVAL_MS = 5_000;

export function insightSources({ incidents, horizon }: Insight): FeedSource[] {
  return [
    {
      event: "incidents",
      intervalMs: INTERVAL_MS,
      read: async () => JSON.stringify(incidentsJson(await incidents())),
    },
    {
      event: "horizon",
      intervalMs: INTERVAL_MS,
      read: async () => JSON.stringify(horizonJson(await horizon(DEFAULT_BUCKETS, null, null))),
    },
  ];
}
