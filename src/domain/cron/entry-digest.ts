// A digest of a cron entry's payload and job options. If two workers report different digests for the same entry, they
// add different jobs.
import { createHash } from "node:crypto";
import { payloadText } from "../payload.ts";
import type { CronEntry } from "./cron-entry.ts";

/** Caches the digests, because they are needed for every heartbeat. Entries are frozen, so a digest stays correct. */
const digests = new WeakMap<CronEntry, string>();

/** Returns 12 hexadecimal digits: the beginning of a hash of the entry's payload and of the options of its jobs. */
export function entryDigest(entry: CronEntry): string {
  const before = digests.get(entry);
  if (before !== undefined) return before;
  const { payload, queueName, maxAttempts, priority, jobKey, jobKeyMode } = entry;
  const options = JSON.stringify({ queueName, maxAttempts, priority, jobKey, jobKeyMode });
  const hash = createHash("sha256").update(options).update(payloadText(payload));
  const digest = hash.digest("hex").slice(0, 12);
  digests.set(entry, digest);
  return digest;
}
