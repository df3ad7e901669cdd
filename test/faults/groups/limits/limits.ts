// The limits of the fault group `limits`, and the jobs that they apply to. The member `n` of a job's payload begins
// with the name of the job's queue, or, if the job has no queue, with the name of the job's task.
import type { JobToAdd } from "../../../../src/domain/job-spec.ts";
import { type LimitOptions, matches } from "../../../../src/domain/limits/limit.ts";
import type { Stand } from "../../field/stand.ts";

export const RATED = { limit: 100, perMs: 1_000, burst: 20 };

/** Two of the limits apply to the task `mail_a`: `mails` and `mails of a`. */
export const LIMITS: readonly LimitOptions[] = [
  { name: "ten", task: "ten", concurrency: 10 },
  { name: "three", task: "three", concurrency: 3 },
  { name: "rated", task: "rated", rate: RATED },
  { name: "trickle", task: "trickle", concurrency: 4, rate: { limit: 20, perMs: 1_000, burst: 5 } },
  { name: "mails", task: "mail_*", concurrency: 5 },
  { name: "mails of a", task: "mail_a", concurrency: 2 },
  { name: "tenants", queue: "tenant/*", concurrency: 3 },
];

export const TENANTS = 20;

/** Returns a job of the task `kind`, or, if `kind` contains a slash (`tenant/7`), a job in the queue `kind`. */
export function jobOf(kind: string, n: string, ms: number, failures = 0): JobToAdd {
  const payload = { n: `${kind} ${n}`, ms, failures, children: 0 };
  return kind.includes("/")
    ? { identifier: "tenant", payload, spec: { queueName: kind } }
    : { identifier: kind, payload };
}

export const kindOf = (n: string): string => n.slice(0, n.indexOf(" "));

/** The jobs that one limit counts together. */
export interface CountedJobs {
  readonly name: string;
  readonly limit: LimitOptions;
  isOf(n: string): boolean;
}

/**
 * One entry for each limit of tasks. A limit of queues counts the jobs of each queue separately, so it has one entry
 * for each queue.
 */
export const counted: readonly CountedJobs[] = LIMITS.flatMap((limit): CountedJobs[] => {
  const { name, task, queue } = limit;
  if (queue === undefined) {
    return [{ name, limit, isOf: (n) => matches(task ?? "", kindOf(n)) }];
  }
  return Array.from({ length: TENANTS }, (_, index) => {
    const kind = `tenant/${index}`;
    return { name: `${name}: ${kind}`, limit, isOf: (n: string) => kindOf(n) === kind };
  });
});

export const isTenant = (queue: string): boolean => queue.startsWith("tenant/");

export async function setLimits(stand: Stand): Promise<void> {
  const utils = await stand.utils;
  for (const limit of LIMITS) await utils.setLimit(limit);
}
