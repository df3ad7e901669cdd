// Asks before something is lost. Only a person at a terminal is asked: a script does as it is told.
import { createInterface } from "node:readline/promises";
import { WorkerError } from "../../base/errors.ts";
import { printable } from "../output/printable.ts";

/** Throws WorkerError `aborted` when the person does not say yes. */
export async function confirm(question: string): Promise<void> {
  if (!(process.stdin.isTTY && process.stdout.isTTY)) return;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // The end of the input is no consent.
    const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    const answer = await Promise.race([lines.question(`${printable(question)} [y/N] `), ended]);
    if (/^\s*y(es)?\s*$/i.test(answer)) return;
  } finally {
    lines.close();
  }
  throw new WorkerError("aborted", "nothing was changed (--yes does it without asking)");
}
