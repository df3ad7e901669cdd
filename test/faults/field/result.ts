// Runs a group of faults in this process. If the group throws an error, the result lists the error as a problem.
import { mkdirSync } from "node:fs";
import { type FaultGroup, Field, type FieldOptions } from "./field.ts";
import type { Figure } from "./measure.ts";

export interface GroupResult {
  readonly figures: readonly Figure[];
  /** Broken rules of the oracle (test/worker/oracle.ts), and other problems. No figures beyond their bounds. */
  readonly problems: readonly string[];
}

export async function runGroup(group: FaultGroup, options: FieldOptions): Promise<GroupResult> {
  mkdirSync(options.directory, { recursive: true });
  const field = new Field(options);
  try {
    await group.run(field);
  } catch (error) {
    field.problem(null, error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  await field.close();
  const { figures, problems } = field;
  return { figures, problems };
}
