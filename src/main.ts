// The binary: look at Node's version, run the command line, set the exit code. The rest is imported
// only then: an older Node would fail in the middle of it. No top-level await: it ships as CommonJS.
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
