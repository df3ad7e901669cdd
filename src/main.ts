// The binary: run the command line, set the exit code. No top-level await: it ships as CommonJS.
import { runCli } from "./cli/cli.ts";

runCli(process.argv.slice(2)).then((status) => {
  process.exitCode = status;
});
