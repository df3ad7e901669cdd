// The binary: look at Node's version, run the command line, set the exit code. The rest is imported
// only then: an older Node would fail in the middle of it. No top-level await: it ships as CommonJS.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 15)) {
  process.stderr.write(
    `worker: this is Node.js ${process.versions.node}, and worker needs 22.15 or later\n`,
  );
  process.exitCode = 1;
} else void main();

async function main(): Promise<void> {
  const { runCli } = await import("./cli/cli.ts");
  process.exitCode = await runCli(process.argv.slice(2));
}
