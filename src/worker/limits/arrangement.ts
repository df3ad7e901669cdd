// Groups a worker's tasks by the limits that apply to them. A task with the option `concurrency` is a group of its own.
// The jobs of a group are fetched together.
import { matches } from "../../domain/limits/limit.ts";
import type { StoredLimit } from "../../queue/limits/limits.ts";

/** Tasks with the same limits. */
export interface LimitedTasks {
  /** Identifies the tasks and the limits. */
  readonly key: string;
  readonly names: readonly string[];
  /** The limits of the group in the order of their ids. */
  readonly limits: readonly StoredLimit[];
  /** The option `concurrency` of the group's only task; null: no task of the group has the option. */
  readonly ownConcurrency: number | null;
}

export interface Arrangement {
  /** Tasks without a limit and without the option `concurrency`. */
  readonly unlimited: readonly string[];
  readonly limited: readonly LimitedTasks[];
}

/**
 * Returns the groups. `tasks`: for each task, its option `concurrency`; null: the task does not have the option. Limits
 * of queues in `limits` are ignored.
 */
export function arrangementOf(
  tasks: ReadonlyMap<string, number | null>,
  limits: readonly StoredLimit[],
): Arrangement {
  const unlimited: string[] = [];
  const groups = new Map<string, LimitedTasks & { readonly names: string[] }>();
  const ofTasks = limits.filter(({ definition }) => definition.scope === "task");
  for (const [name, ownConcurrency] of tasks) {
    const own = ofTasks.filter(({ definition }) => matches(definition.match, name));
    if (own.length === 0 && ownConcurrency === null) {
      unlimited.push(name);
      continue;
    }
    const ids = own.map(({ id }) => id).join(",");
    const key = ownConcurrency === null ? ids : `${ids}:${ownConcurrency}:${name}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { key, names: [name], limits: own, ownConcurrency });
    else group.names.push(name);
  }
  const limited = [...groups.values()];
  return { unlimited, limited: limited.map((one) => ({ ...one, key: keyOf(one) })) };
}

const keyOf = ({ key, names }: LimitedTasks): string => JSON.stringify([key, ...names]);
