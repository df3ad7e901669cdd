// A group from its beginning to its end, in this process; and what became of it.
import { mkdirSync } from "node:fs";
import { type FaultGroup, Field, type FieldOptions } from "./field.ts";
import type { Figure } from "./measure.ts";

export interface GroupResult {
  readonly figures: readonly Figure[];
  /** Oracle rules that were broken, and what else went wrong. */
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
