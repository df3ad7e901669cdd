// Reads the number of jobs of each task and queue. If the jobs cannot be counted in time, for example on a slow disk or
// a busy machine, the numbers are unknown, and a list shows only the names.
import { now } from "../../../base/clock.ts";
import { nullOnTimeout } from "../../../database/null-on-timeout.ts";
import { type NameCounts, unknownNames } from "../../../insight/snapshot/name-counts.ts";
import type { Admin } from "../../context/admin.ts";

export async function nameCounts({ feed }: Pick<Admin, "feed">): Promise<NameCounts> {
  const snapshot = await nullOnTimeout(feed.snapshot());
  return snapshot?.names ?? unknownNames(new Date(now()).toISOString());
}
