// The heartbeat thread of a worker that is bundled into one file. The bundle contains the thread's program as a string.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { type BuildOptions, build } from "esbuild";
import { testQueue } from "../../queue/queue-database.ts";
import { jobsOf } from "../recovery-jobs.ts";
import { QUICK, waitUntil } from "../worker-process.ts";

const queue = testQueue();
const { workerIds } = jobsOf(queue);
const directory = mkdtempSync(join(tmpdir(), "worker-bundle-"));
after(() => rmSync(directory, { recursive: true, force: true }));

const text = join(directory, "heartbeat-thread.json");
// bundle.mjs is plain JavaScript, so the type of thread() is declared here. thread() writes the program to a file.
const { thread } = (await import(new URL("../../../build/bundle.mjs", import.meta.url).href)) as {
  thread(path: string): Promise<void>;
};
await thread(text);

test("The embedded program of the heartbeat thread requires only built-in modules of Node.", () => {
  const source = JSON.parse(readFileSync(text, "utf8")) as string;
  const required = [...source.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name = ""]) => name);
  // pg requires the first of these packages only on request, and the second only in a Cloudflare Worker.
  const optional = ["pg-native", "pg-cloudflare"];
  assert.deepEqual(
    required.filter((name) => !isBuiltin(name) && !optional.includes(name)),
    [],
  );
});

const entry = join(import.meta.dirname, "../recovery-child.ts");
const asModule: BuildOptions = {
  entryPoints: [entry],
  format: "esm",
  define: { "import.meta.url": JSON.stringify("file:///somewhere/worker.cjs") },
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire("file:///");',
  },
};
const source = readFileSync(entry, "utf8");
const body = source.indexOf("\n\n", source.lastIndexOf("\nimport "));
// CommonJS has no top-level await, so the code after the imports becomes the body of an async function. CommonJS also
// has no import.meta; esbuild's warning about it is silenced.
const asCommonJs: BuildOptions = {
  stdin: {
    contents: `${source.slice(0, body)}\nvoid (async () => {${source.slice(body)}})();`,
    resolveDir: dirname(entry),
    loader: "ts",
  },
  format: "cjs",
  logOverride: { "empty-import-meta": "silent" },
};

for (const bundled of [asModule, asCommonJs])
  test(`In a bundle of one file (${bundled.format}) the heartbeat thread runs the embedded program.`, async () => {
    const program = join(directory, bundled.format === "cjs" ? "worker.cjs" : "worker.mjs");
    await build({
      ...bundled,
      outfile: program,
      bundle: true,
      platform: "node",
      target: "node22",
      logLevel: "error",
      loader: { ".sql": "text" },
      external: ["pg-native"],
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
    await waitUntil("the worker has started", async () =>
      lines.some((line) => line.includes('"ready"')),
    );
    const look = "select max(last_heartbeat_at)::text as last from worker._private_workers";
    const [before] = await queue.sql<{ last: string }>(look);
    await waitUntil(
      "the worker sends a heartbeat",
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
