// The entry point of the command: checks Node's version, runs the command line, sets the exit status.
// Everything else is imported after the check, because an older Node fails to load it. There is no top-level
// await, because the file is shipped as CommonJS.
import { nodeVersionProblem } from "./base/version.ts";

const problem = nodeVersionProblem("worker");

if (problem === null) void main();
else {
  process.stderr.write(`worker: ${problem}\n`);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const { runCli } = await import("./cli/cli.ts");
  process.exitCode = await runCli(process.argv.slice(2));
}
