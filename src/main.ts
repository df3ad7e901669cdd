// The entry point of the command: checks Node's version, runs the command line, sets the exit status. The command line
// is imported only after the check, because a Node that is too old fails to load it. There is no top-level await,
// because the bundled command is CommonJS.
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
