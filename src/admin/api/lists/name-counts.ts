// The number of jobs of each task and queue. When they cannot be counted in time, on a slow disk or a busy
// machine, a list shows its names without numbers.
import { now } from "../../../base/clock.ts";
import { nullOnTimeout } from "../../../database/null-on-timeout.ts";
import { type NameCounts, unknownNames } from "../../../insight/snapshot/name-counts.ts";
import type { Admin } from "../../context/admin.ts";

export async function nameCounts({ feed }: Pick<Admin, "feed">): Promise<NameCounts> {
  const snapshot = await nullOnTimeout(feed.snapshot());
  return snapshot?.names ?? unknownNames(new Date(now()).toISOString());
}
