// Runs a group of faults in this process. An error that it throws becomes one of the result's problems.
import { mkdirSync } from "node:fs";
import { type FaultGroup, Field, type FieldOptions } from "./field.ts";
import type { Figure } from "./measure.ts";

export interface GroupResult {
  readonly figures: readonly Figure[];
  /** Broken rules of the oracle (test/worker/oracle.ts), and other problems. Bounds of figures are not checked. */
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
