// A process that runs the command lines of a test file one after another. If each command line started Node,
// the starts would take most of the test's time. The process sends the output and the exit status of each command line
// to runInChild() in command.ts.
import { runCli } from "../../src/cli/cli.ts";

export interface Order {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

let printed = { stdout: "", stderr: "" };
for (const name of ["stdout", "stderr"] as const) {
  process[name].write = ((text: string) => {
    printed[name] += text;
    return true;
  }) as typeof process.stdout.write;
}
process.stdout.setMaxListeners(0); // each command line adds a listener for errors

// The variables to remove before the next command line. At first these are inherited variables that commands read, and
// later the variables of the previous command line.
let left = Object.keys(process.env).filter((name) =>
  /^(DATABASE_URL|WORKER_|PG|CREDENTIALS_DIRECTORY)/.test(name),
);

process.on("message", ({ args, env }: Order) => {
  for (const name of left) delete process.env[name];
  left = Object.keys(env);
  Object.assign(process.env, env);
  printed = { stdout: "", stderr: "" };
  void runCli(args).then((status) => process.send?.({ ...printed, status }));
});
