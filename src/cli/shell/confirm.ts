// Asks for confirmation on the terminal. Without a terminal, a destructive command needs `--yes`.
import { WorkerError } from "../../base/errors.ts";
import { UsageError } from "../arguments/refusals.ts";
import { printable } from "../output/printable.ts";

/** Whether a terminal can show a question (on stderr) and read the answer. */
export const isAtTerminal = (): boolean =>
  process.stdin.isTTY === true && process.stderr.isTTY === true;

/** Throws UsageError without a terminal. Called for a destructive command that was typed without `--yes`. */
export function assertCanConfirm(command: string): void {
  if (isAtTerminal()) return;
  throw new UsageError(
    `${command} asks for confirmation, and there is no terminal: confirm with --yes`,
    command,
  );
}

/**
 * Shows a question. Throws WorkerError `aborted` if the answer is not yes. Without a terminal, returns at once.
 * `option`: the option that skips the question; the error's message names it.
 */
export async function confirm(question: string, option = "--yes"): Promise<void> {
  if (!isAtTerminal()) return;
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // If the input ends before an answer, the answer counts as no.
    const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    const answer = await Promise.race([lines.question(`${printable(question)} [y/N] `), ended]);
    if (/^\s*y(es)?\s*$/i.test(answer)) return;
  } finally {
    lines.close();
  }
  throw new WorkerError("aborted", `nothing was changed (${option} skips this question)`);
}
