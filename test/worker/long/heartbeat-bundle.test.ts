// The thread where nothing can be loaded: its text as the build embeds it, in a bundle of one file.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { build } from "esbuild";
import { testQueue } from "../../queue/queue-database.ts";
import { jobsOf } from "../recovery-jobs.ts";
import { QUICK, until } from "../worker-process.ts";

const queue = testQueue();
const { workerIds } = jobsOf(queue);
const directory = mkdtempSync(join(tmpdir(), "worker-bundle-"));
after(() => rmSync(directory, { recursive: true, force: true }));

const text = join(directory, "heartbeat-thread.json");
const program = join(directory, "worker.mjs");
// The build is plain JavaScript, without types.
const { thread } = (await import(new URL("../../../build/bundle.mjs", import.meta.url).href)) as {
  thread(path: string): Promise<void>;
};
await thread(text);

test("The text asks for nothing but what Node has built in.", () => {
  const source = JSON.parse(readFileSync(text, "utf8")) as string;
  const asked = [...source.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name = ""]) => name);
  // pg asks for these two only where somebody has chosen them.
  const optional = ["pg-native", "pg-cloudflare"];
  assert.deepEqual(
    asked.filter((name) => !isBuiltin(name) && !optional.includes(name)),
    [],
  );
});

test("In a bundle of one file the heartbeat runs in a thread, from that text.", async () => {
  await build({
    entryPoints: [join(import.meta.dirname, "../recovery-child.ts")],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node22",
    logLevel: "error",
    loader: { ".sql": "text" },
    external: ["pg-native"],
    define: { "import.meta.url": JSON.stringify("file:///somewhere/worker.cjs") },
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire("file:///");',
    },
    plugins: [
      {
        name: "text",
        setup: (one) =>
          one.onResolve({ filter: /heartbeat-thread\.json$/ }, () => ({ path: text })),
      },
    ],
  });
  const options = { connectionString: queue.url, recovery: QUICK };
  const child = spawn(process.execPath, [program, JSON.stringify(options)], {
    cwd: directory,
    stdio: ["pipe", "pipe", "inherit"],
  });
  after(() => child.kill("SIGKILL"));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  await until("it has started", async () => lines.some((line) => line.includes('"ready"')));
  const look = "select max(last_heartbeat_at)::text as last from worker._private_workers";
  const [before] = await queue.sql<{ last: string }>(look);
  await until(
    "it beats",
    async () => (await queue.sql<{ last: string }>(look))[0]?.last !== before?.last,
  );
  child.stdin.end();
  await once(child, "exit");
  assert.deepEqual(
    lines.filter((line) => line.includes("own thread")),
    [],
  );
  assert.deepEqual(await workerIds(), []);
});
