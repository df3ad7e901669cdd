// Checks the structure of src and ui, such as the imports between layers and folders, and the sizes of files and
// folders. If you change `layers`, also change ARCHITECTURE.md.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { jobActions } from "../src/commands/index.ts";

const layers: Record<string, readonly string[]> = {
  base: [],
  domain: ["base"],
  database: ["base", "domain"],
  queue: ["base", "domain", "database"],
  insight: ["base", "domain", "database", "queue"],
  commands: ["base", "domain", "database", "queue", "insight"],
  utils: ["base", "domain", "database", "queue", "insight", "commands"],
  worker: ["base", "domain", "database", "queue", "utils"],
  http: ["base"],
  admin: ["base", "domain", "database", "queue", "insight", "commands", "http"],
  cli: [
    ...["base", "domain", "database", "queue", "insight", "commands", "utils"],
    ...["worker", "http", "admin"],
  ],
};
/** The folders of layers, each with the folders of its layer that it may import. "" is the layer's own folder. */
const folders: Record<string, Record<string, readonly string[]>> = {
  database: {
    errors: [],
    "": ["errors"],
    "connection/server": [""],
    connection: ["", "errors", "connection/server"],
    "schema/extensions": [""],
    schema: ["", "errors", "connection", "schema/extensions"],
    "schema/indexes": ["", "errors", "connection"],
    inspect: ["", "errors"],
    embedded: [],
  },
  queue: {
    sql: [],
    workers: ["sql"],
    pauses: ["sql", "workers"],
    cancel: ["sql", "workers", "pauses"],
    limits: ["sql", "workers", "pauses"],
    tidy: ["sql", "workers"],
    settle: ["sql", "pauses", "limits"],
    fetch: ["sql", "settle", "pauses", "limits"],
    add: ["sql", "tidy"],
    cron: ["sql", "add"],
    schedules: ["sql", "add", "cron"],
  },
  insight: {
    expressions: [],
    controls: [],
    read: ["expressions"],
    "query/facts": ["expressions", "read"],
    "query/parts": [],
    "query/fields": ["expressions", "read", "query/facts", "query/parts"],
    query: ["expressions", "query/facts", "query/parts", "query/fields"],
    suggest: ["query/fields"],
    walk: ["query/parts", "query"],
    pages: ["expressions", "controls", "read", "query/facts", "query/parts", "query", "walk"],
    export: ["query", "walk", "pages"],
    stats: ["expressions", "read", "query", "walk"],
    snapshot: ["read", "stats"],
    lists: ["expressions", "controls", "read", "stats"],
    "lists/cron": ["read", "lists"],
    "lists/queues": ["expressions", "controls", "stats", "walk", "pages", "lists"],
    limits: ["expressions", "read", "snapshot", "stats", "lists"],
    why: ["expressions", "controls", "read", "query/facts", "limits"],
    groups: ["expressions", "query/facts", "query", "stats"],
    horizon: ["expressions", "read", "stats"],
    incidents: [
      "expressions",
      "controls",
      "read",
      "stats",
      "lists/cron",
      "limits",
      "why",
      "groups",
      "horizon",
    ],
    "": ["query/facts", "query", "stats", "limits", "why", "groups", "horizon", "incidents"],
    json: [
      "controls",
      "read",
      "snapshot",
      "lists",
      "lists/cron",
      "limits",
      "why",
      "horizon",
      "incidents",
    ],
  },
  commands: {
    audit: [],
    "before-images": ["audit"],
    declare: ["audit", "before-images"],
    indexes: ["declare"],
    cancel: [],
    pauses: ["declare", "cancel"],
    limits: ["declare", "pauses"],
    jobs: ["before-images", "declare", "cancel", "pauses"],
    maintenance: ["declare"],
    schedules: ["declare", "jobs"],
    "": ["audit", "declare", "indexes", "jobs", "limits", "maintenance", "pauses", "schedules"],
    "operations/model": ["audit", "before-images", "declare", ""],
    "operations/store": ["audit", "before-images", "declare", "operations/model"],
    "operations/rehearse": ["before-images", "declare", "operations/model"],
    operations: ["audit", "before-images", "operations/model", "operations/rehearse"],
  },
  utils: { "": [] },
  worker: {
    task: [],
    options: ["task"],
    connection: ["options"],
    lease: ["task", "options", "connection"],
    execute: ["task", "lease"],
    fetch: ["connection", "lease", "execute"],
    limits: ["task", "options", "lease"],
    safe: ["task", "options", "connection", "lease", "execute", "fetch", "limits"],
    fast: ["task", "options", "connection", "execute", "fetch"],
    cron: ["task", "options"],
    files: ["task", "execute"],
    "": [
      "task",
      "options",
      "connection",
      "execute",
      "fetch",
      "limits",
      "safe",
      "fast",
      "lease",
      "cron",
    ],
  },
  http: {
    listen: [],
    bounds: ["listen"],
    "": ["listen", "bounds"],
    events: ["", "bounds"],
    repeat: [""],
  },
  admin: {
    access: [],
    config: ["access"],
    live: [],
    feed: ["live"],
    page: [],
    wire: [],
    insight: ["feed", "wire"],
    operations: ["feed", "live"],
    context: ["access", "config", "feed", "insight", "live", "page", "wire", "operations"],
    "api/live": ["feed", "wire", "context"],
    "api/lists": ["wire", "context"],
    "api/limits": ["wire", "context", "api/lists"],
    "api/export": ["wire", "context"],
    "api/insight": ["insight", "wire", "context"],
    "api/operations": ["wire", "context"],
    api: ["access", "config", "page", "wire", "context"],
    "api/system": ["feed", "wire", "context"],
    "": [
      "access",
      "config",
      "feed",
      "insight",
      "live",
      "page",
      "api/live",
      "api",
      "api/lists",
      "api/limits",
      "api/export",
      "context",
      "api/insight",
      "api/operations",
      "operations",
      "api/system",
    ],
  },
  cli: {
    arguments: [],
    output: [],
    shell: ["arguments", "output"],
    operations: ["arguments", "output", "shell"],
    declared: ["arguments", "output", "shell", "operations"],
    demo: [],
    service: ["arguments"],
    admin: ["arguments", "output", "service"],
    "run/own": [],
    "run/programs": ["run/own"],
    run: ["arguments", "output", "shell", "service", "admin", "run/own", "run/programs"],
    "commands/adding": ["arguments", "output", "shell", "operations"],
    "commands/insight": ["arguments", "output", "shell", "operations"],
    "commands/doctor": ["arguments", "output", "shell", "operations"],
    "commands/program": ["arguments", "output", "shell"],
    commands: [
      ...["arguments", "output", "shell", "operations", "declared", "demo", "service", "admin"],
      "run",
      ...["commands/adding", "commands/insight", "commands/doctor", "commands/program"],
    ],
    "": ["arguments", "output", "shell", "commands", "run", "run/own"],
  },
};
/** The folders and files of ui/assembly, each with the folders and files that it may import. */
const clientFolders: Record<string, readonly string[]> = {
  host: [],
  lib: [],
  literals: [],
  shapes: ["lib"],
  generated: ["lib", "shapes"],
  controls: ["host", "lib", "generated"],
  forms: ["host", "lib", "generated", "controls"],
  saved: ["host"],
  model: ["host", "lib", "generated", "controls", "forms", "saved"],
  kit: ["host", "lib", "generated", "controls", "model"],
  operations: ["lib", "generated", "controls", "forms", "model", "kit"],
  parts: ["lib", "generated", "controls", "model", "kit"],
  job: ["host", "lib", "generated", "controls", "forms", "adding", "model", "kit", "parts"],
  bar: ["lib", "generated", "controls", "model"],
  "pages/*": [
    "host",
    "lib",
    "generated",
    "controls",
    "forms",
    "model",
    "operations",
    "kit",
    "parts",
    "job",
    "bar",
    "pages",
  ],
  adding: ["lib", "generated", "controls", "forms", "model"],
  dialogs: [
    "host",
    "lib",
    "generated",
    "controls",
    "forms",
    "model",
    "operations",
    "kit",
    "parts",
    "adding",
  ],
  shell: ["lib", "generated", "controls", "model", "operations"],
  app: ["host", "lib", "generated", "controls", "forms", "model", "kit", "operations"],
  // The files directly in pages/.
  pages: ["host", "lib", "controls", "model", "kit", "parts", "pages/*"],
  index: ["literals", "host", "lib", "model", "pages", "dialogs", "shell", "app"],
};
const MAX_MAP_BYTES = 12_000;
const MAX_FILES = 12;
const MAX_FILE_LINES = 300;
const MAX_MEDIAN_LINES = 90;

interface Source {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
  /** Imported packages and Node modules, without `import type`. */
  readonly packages: readonly string[];
}

const root = join(import.meta.dirname, "..");
const sources = load("src");
const uiSources = load("ui").filter(({ path }) => !path.includes("generated"));

function load(folder: string): Source[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .map((name) => {
      const path = join(folder, name);
      const text = readFileSync(join(root, path), "utf8");
      const values = text.replaceAll(/^import type [^;]+;$/gm, "");
      const found = text.matchAll(/(?:\bfrom|\bimport\(?)\s*"([^"]+)"/g);
      const imports = [...found].map(([, target = ""]) =>
        target.startsWith(".") ? normalize(join(dirname(path), target)) : target,
      );
      const packages = [...values.matchAll(/(?:\bfrom|\bimport\()\s*"([^".]+)"/g)];
      return { path, text, imports, packages: packages.map(([, name = ""]) => name) };
    });
}

const layerOf = (path: string) => path.split(sep)[1] ?? "";

test("A layer imports only the layers below it.", () => {
  const wrong = sources.flatMap(({ path, imports }) => {
    const allowed = layers[layerOf(path)];
    if (allowed === undefined) return []; // main.ts, index.ts and require-node.ts are in no layer
    return imports
      .filter((target) => target.startsWith(`src${sep}`))
      .filter((target) => layerOf(target) !== layerOf(path) && !allowed.includes(layerOf(target)))
      .map((target) => `${path} imports ${target}`);
  });
  assert.deepEqual(wrong, []);
});

/** Returns `fetch` for src/queue/fetch/x.ts, and "" for src/queue/x.ts. */
const folderOf = (path: string) => path.split(sep).slice(2, -1).join("/");

function listedFolders(layer: string): string[] {
  const readme = readFileSync(join(root, "src", layer, "README.md"), "utf8");
  const rows = readme.matchAll(/^\| \[`([a-z/-]+)`\]\(\1\) \| [^|]+ \|$/gm);
  return [...rows].map(([, name = ""]) => name);
}

for (const [layer, table] of Object.entries(folders)) {
  test(`A folder of ${layer} imports only folders listed before it, and the layer's README lists the folders in the same order.`, () => {
    const ofLayer = sources.filter(({ path }) => layerOf(path) === layer);
    const names = Object.keys(table);
    assert.deepEqual(
      [...new Set(ofLayer.map(({ path }) => folderOf(path)))].sort(),
      names.toSorted(),
    );
    for (const [index, name] of names.entries()) {
      const later = (table[name] ?? []).filter((other) => names.indexOf(other) >= index);
      assert.deepEqual(later, [], `${layer}/${name} may import only folders listed before it`);
    }
    const wrong = ofLayer.flatMap(({ path, imports }) =>
      imports
        .filter((target) => target.startsWith(`src${sep}${layer}${sep}`))
        .filter((target) => folderOf(target) !== folderOf(path))
        .filter((target) => !table[folderOf(path)]?.includes(folderOf(target)))
        .map((target) => `${path} imports ${target}`),
    );
    assert.deepEqual(wrong, []);
    const ordered = names.filter((name) => name !== "");
    if (ordered.length > 0) assert.deepEqual(listedFolders(layer), ordered);
  });
}

test("The README of the domain lists its folders.", () => {
  const ofLayer = sources
    .filter(({ path }) => layerOf(path) === "domain")
    .map(({ path }) => folderOf(path));
  const folders = [...new Set(ofLayer)].filter((name) => name !== "");
  assert.deepEqual(listedFolders("domain").toSorted(), folders.toSorted());
});

test("ARCHITECTURE.md is short, and has a line for each run-time dependency.", () => {
  const map = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  assert.ok(Buffer.byteLength(map) <= MAX_MAP_BYTES);
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const missing = Object.keys(manifest.dependencies).filter(
    (name) => !map.includes(`\n| ${name} | `),
  );
  assert.deepEqual(missing, []);
});

test("A folder of src has at most twelve TypeScript files.", () => {
  const byFolder = Map.groupBy(sources, ({ path }) => dirname(path));
  const crowded = [...byFolder].filter(([, files]) => files.length > MAX_FILES);
  assert.deepEqual(
    crowded.map(([folder]) => folder),
    [],
  );
});

test("Except for imports of types, pg is imported only by the layers database and worker, node:http only by http, yargs only by cli, pino and pino-pretty only by the logger.", () => {
  const owners: [RegExp, RegExp][] = [
    [/^pg$/, /^src\/(database|worker)\//],
    [/^node:http$/, /^src\/http\//],
    [/^yargs$/, /^src\/cli\//],
    [/^(pino|pino-pretty)$/, /^src\/base\/logger\.ts$/],
  ];
  const wrong = sources.flatMap(({ path, packages }) =>
    packages
      .filter((target) => owners.some(([name, owner]) => name.test(target) && !owner.test(path)))
      .map((target) => `${path} imports ${target}`),
  );
  assert.deepEqual(wrong, []);
});

test("Only the command line and main.ts use process.argv and process.exit; only these and base/clock.ts read the time.", () => {
  const wrong = sources
    .filter(({ path }) => !/^src\/(cli\/|main\.ts|base\/clock\.ts)/.test(path))
    .flatMap(({ path, text }) => [
      ...(/process\.argv|process\.exit\b/.test(text)
        ? [`${path} uses process.argv or process.exit`]
        : []),
      ...(/\bDate\.now\(\)|performance\.now\(\)|new Date\(\)/.test(text)
        ? [`${path} reads the time`]
        : []),
    ]);
  assert.deepEqual(wrong, []);
});

test("Only the command line's printer and main.ts write to the terminal.", () => {
  const wrong = sources.filter(
    ({ path, text }) =>
      // If Node is too old, main.ts reports this before it loads the printer.
      ![join("src", "cli", "output", "print.ts"), join("src", "main.ts")].includes(path) &&
      /\bconsole\.|process\.(stdout|stderr)\.write/.test(text),
  );
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  );
});

test("The admin and the command line do not import the folders indexes, jobs and maintenance of the layer commands.", () => {
  const inner = ["indexes", "jobs", "maintenance"].map((folder) => join("src", "commands", folder));
  const wrong = sources
    .filter(({ path }) => ["admin", "cli"].includes(layerOf(path)))
    .flatMap(({ path, imports }) =>
      imports
        .filter((target) => inner.some((folder) => target.startsWith(folder)))
        .map((target) => `${path} imports ${target}`),
    );
  assert.deepEqual(wrong, []);
});

test("No two exported types share a name.", () => {
  const declared = /^export (?:abstract )?(?:type|interface|class) (\w+)/gm;
  const names = sources
    .filter(({ path }) => path !== join("src", "index.ts"))
    .flatMap(({ path, text }) =>
      [...text.matchAll(declared)].map(([, name = ""]) => ({ name, path })),
    );
  const shared = [...Map.groupBy(names, ({ name }) => name)]
    .filter(([, places]) => places.length > 1)
    .map(([name, places]) => `${name}: ${places.map(({ path }) => path).join(", ")}`);
  assert.deepEqual(shared, []);
});

test("A module does nothing when it is imported, except the entry points of processes.", async () => {
  const entries = [join("src", "main.ts"), join("src", "worker", "lease", "heartbeat-thread.ts")];
  const urls = sources
    .filter(({ path }) => !entries.includes(path))
    .map(({ path }) => pathToFileURL(join(root, path)).href);
  const program = `for (const url of ${JSON.stringify(urls)}) await import(url);`;
  const register = join(root, "test", "support", "register.mjs");
  const options = ["--import", register, "--input-type=module", "--eval", program];
  // A timer or a socket that an import has opened would keep the process running until the timeout.
  const { stdout, stderr } = await promisify(execFile)(process.execPath, options, {
    timeout: 60_000,
    env: {},
  });
  assert.deepEqual([stdout, stderr], ["", ""]);
});

test("From the layer admin, the command line imports only the server and the configuration.", () => {
  const starting = /^src\/admin\/(serve\.ts|server\.ts|config\/)/;
  const wrong = sources
    .filter(({ path }) => layerOf(path) === "cli")
    .flatMap(({ path, imports }) =>
      imports
        .filter((target) => layerOf(target) === "admin" && !starting.test(target))
        .map((target) => `${path} imports ${target}`),
    );
  assert.deepEqual(wrong, []);
});

test("The layer queue has at most 5,000 lines, not counting its folders limits, schedules, pauses and cancel, which have at most 700 lines each.", () => {
  const verbs = ["limits", "schedules", "pauses", "cancel"];
  const queue = sources.filter(({ path }) => layerOf(path) === "queue");
  const linesOf = (verb: string) =>
    queue
      .filter(({ path }) => (verbs.find((one) => path.includes(join("queue", one))) ?? "") === verb)
      .reduce((sum, { text }) => sum + text.split("\n").length - 1, 0);
  for (const verb of ["", ...verbs]) {
    const lines = linesOf(verb);
    assert.ok(
      lines > 0 && lines <= (verb === "" ? 5_000 : 700),
      `src/queue/${verb}: ${lines} lines`,
    );
  }
});

test("The client imports nothing from src except domain/portable, which is compiled as TypeScript and as AssemblyScript.", () => {
  const shared = join("src", "domain", "portable");
  const wrong = uiSources.filter(({ imports }) =>
    imports.some((one) => one.startsWith("src") && !one.startsWith(shared)),
  );
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  );
});

/**
 * Returns, for example, `lib`, `pages/jobs` for a file of the page `jobs`, or `pages` for a file directly in pages/.
 */
function clientFolderOf(path: string): string {
  const [, , folder = "", page = "", file] = path.split(sep);
  if (folder === "pages" && file !== undefined) return `pages/${page}`;
  return folder.replace(/\.ts$/, "");
}

const clientSources = uiSources
  .filter(({ path }) => path.startsWith(join("ui", "assembly")))
  .map((source) => {
    const own = source.imports.filter((target) => target.startsWith("ui"));
    return { ...source, imports: own.map((target) => `${target}.ts`) };
  });

test("A folder of the client imports only the folders listed for it, and no page imports another page.", () => {
  const kindOf = (folder: string) => (folder.startsWith("pages/") ? "pages/*" : folder);
  const wrong = clientSources.flatMap(({ path, imports }) => {
    const folder = clientFolderOf(path);
    const allowed = clientFolders[kindOf(folder)];
    assert.ok(allowed, `${folder} is not a listed folder of the client`);
    return imports
      .map((target) => [target, clientFolderOf(target)] as const)
      .filter(([, other]) => other !== folder && !allowed.includes(kindOf(other)))
      .map(([target]) => `${path} imports ${target}`);
  });
  assert.deepEqual(wrong, []);
});

test("The list of the client's pages has every page.", () => {
  const list = clientSources.find(
    ({ path }) => path === join("ui", "assembly", "pages", "index.ts"),
  );
  const listed = list?.imports.filter((target) => target.endsWith(`${sep}page.ts`));
  const folders = readdirSync(join(root, "ui/assembly/pages"), { withFileTypes: true });
  const pages = folders.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  assert.deepEqual(
    listed?.sort(),
    pages.map((name) => join("ui", "assembly", "pages", name, "page.ts")).sort(),
  );
});

test("A CSS class of the client is styled in only one stylesheet, so that the styles of a page do not change other pages.", () => {
  const files = readdirSync(join(root, "ui"), { recursive: true, encoding: "utf8" })
    .filter((file) => /^(styles|assembly).*\.css$/.test(file))
    .map((file) => [file, readFileSync(join(root, "ui", file), "utf8")] as const);
  const owners = new Map<string, string[]>();
  for (const [file, text] of files) {
    for (const [, name = ""] of new Set(text.matchAll(/^\.([\w-]+) \{/gm))) {
      owners.set(name, [...new Set([...(owners.get(name) ?? []), file])]);
    }
  }
  assert.ok(owners.size > 100, `only ${owners.size} CSS classes are found`);
  assert.deepEqual(
    [...owners].filter(([, several]) => several.length > 1),
    [],
  );
});

test("The client's files and folders stay small, and each file has a header.", () => {
  const folders = Map.groupBy(clientSources, ({ path }) => clientFolderOf(path));
  const crowded = [...folders].filter(([, files]) => files.length > MAX_FILES);
  const long = uiSources.filter(({ text }) => text.split("\n").length - 1 > MAX_FILE_LINES);
  const headless = uiSources.filter(({ text }) => !/^(\/\/|\/\*)/.test(text));
  assert.deepEqual(
    crowded.map(([folder]) => folder),
    [],
  );
  assert.deepEqual(
    [...long, ...headless].map(({ path }) => path),
    [],
  );
});

test("No source file compares the name of an action on jobs with a fixed name: the declarations of these actions contain all differences.", () => {
  const names = jobActions.map(({ name }) => name).join("|");
  // The verdict of an interceptor, such as "fail", is not the name of an action on jobs.
  const compared = new RegExp(
    `(?<!verdict\\?\\.)\\b(?:action|command|name)\\)? [!=]== "(?:${names})"`,
  );
  const wrong = [...sources, ...clientSources].filter(({ text }) => compared.test(text));
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  );
});

test("There is no import cycle, type imports included.", () => {
  const all = [...sources, ...clientSources];
  const byPath = new Map(all.map((source) => [source.path, source]));
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(path), `cycle: ${[...trail, path].join(" → ")}`);
    if (done.has(path)) return;
    for (const next of byPath.get(path)?.imports ?? []) {
      if (byPath.has(next)) visit(next, [...trail, path]);
    }
    done.add(path);
  };
  for (const { path } of all) visit(path, []);
});

test("The files of src stay small and have a header.", () => {
  const lines = sources.map(({ path, text }) => ({ path, count: text.split("\n").length - 1 }));
  assert.deepEqual(
    lines.filter(({ count }) => count > MAX_FILE_LINES),
    [],
  );
  const counts = lines.map(({ count }) => count).sort((a, b) => a - b);
  assert.ok((counts[Math.floor(counts.length / 2)] ?? 0) <= MAX_MEDIAN_LINES);
  const headless = sources.filter(({ text }) => !/^(\/\/|\/\*)/.test(text));
  assert.deepEqual(
    headless.map(({ path }) => path),
    [],
  );
});
