// Asks before something is lost. Only a person at a terminal is asked: a script does as it is told.
import { createInterface } from "node:readline/promises";
import { WorkerError } from "../../base/errors.ts";
import { printable } from "../output/printable.ts";

/** True where a person can be asked. */
export const isAtTerminal = (): boolean => process.stdin.isTTY && process.stdout.isTTY;

/** Throws WorkerError `aborted` when the person does not say yes. `option`: does it without asking. */
export async function confirm(question: string, option = "--yes"): Promise<void> {
  if (!isAtTerminal()) return;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // The end of the input is no consent.
    const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    const answer = await Promise.race([lines.question(`${printable(question)} [y/N] `), ended]);
    if (/^\s*y(es)?\s*$/i.test(answer)) return;
  } finally {
    lines.close();
  }
  throw new WorkerError("aborted", `nothing was changed (${option} does it without asking)`);
}
