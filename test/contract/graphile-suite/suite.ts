// Graphile Worker's tests in a directory of their own, with Jest and the published package instead of its sources.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";

export interface Outcomes {
  readonly all: ReadonlySet<string>;
  readonly passed: ReadonlySet<string>;
}

/** As in its own configuration. */
const LIMIT_MS = 20_000;

const manifest = new URL("../../../node_modules/graphile-worker/package.json", import.meta.url);
const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };

const DEPENDENCIES = [
  ...[`graphile-worker@${version}`, "pg@8", "jest@30", "ts-jest@29", "@jest/globals@30"],
  ...["jest-time-helpers@1.1.0", "typescript@5.9"],
];

const CONFIG = {
  roots: ["<rootDir>/__tests__"],
  transform: {
    "^.+\\.tsx?$": ["ts-jest", { useESM: true, tsconfig: "tsconfig.json", diagnostics: false }],
  },
  testRegex: "/__tests__/.*\\.test\\.ts$",
  moduleFileExtensions: ["ts", "mjs", "js", "json"],
  extensionsToTreatAsEsm: [".ts"],
  moduleNameMapper: {
    "^(\\.{1,2}/(?!src/).*)\\.js$": "$1",
    "^\\.\\./src/(.*)\\.[jt]s$": "<rootDir>/node_modules/graphile-worker/dist/$1.js",
  },
  testTimeout: LIMIT_MS,
};
const COMPILER = {
  compilerOptions: {
    ...{ module: "nodenext", target: "es2023", isolatedModules: true },
    ...{ rewriteRelativeImportExtensions: true, verbatimModuleSyntax: true },
  },
};

export function installSuite(clone: string, suite: string): void {
  mkdirSync(suite);
  cpSync(join(clone, "__tests__"), join(suite, "__tests__"), { recursive: true });
  const write = (name: string, content: object) =>
    writeFileSync(join(suite, name), JSON.stringify(content));
  write("package.json", { type: "module", private: true });
  write("jest.config.json", CONFIG);
  write("tsconfig.json", COMPILER);
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...DEPENDENCIES];
  execFileSync("npm", args, { cwd: suite, stdio: ["ignore", "ignore", "inherit"] });
  resetByFile(join(suite, "__tests__/helpers.ts"));
}

const MIGRATION = "  const compiledSharedOptions = processSharedOptions(options);\n";

/** Where a test makes a new schema, the environment may name a file with its SQL. */
function resetByFile(path: string): void {
  const text = readFileSync(path, "utf8");
  if (!text.includes(MIGRATION))
    throw new Error("helpers.ts migrates in another way than expected");
  const instead = `  if (process.env.SUITE_SCHEMA) {
    await pgPoolOrClient.query(readFileSync(process.env.SUITE_SCHEMA, "utf8"));
    return;
  }
`;
  const patched = text.replace(MIGRATION, instead + MIGRATION);
  writeFileSync(path, `import { readFileSync } from "fs";\n${patched}`);
}

/** `schema`: a file with the SQL of the schema; null: the one that the package makes. */
export function runSuite(
  suite: string,
  server: { url(database?: string): string },
  schema: string | null,
): Outcomes {
  const report = join(suite, "report.json");
  const jest = ["--experimental-vm-modules", "node_modules/jest/bin/jest.js"];
  spawnSync(process.execPath, [...jest, "--json", "--outputFile", report, "--maxWorkers", "2"], {
    cwd: suite,
    stdio: "ignore",
    env: {
      ...{ ...process.env, ...connectionOf(server), NO_LOG_SUCCESS: "1" },
      ...(schema === null ? {} : { SUITE_SCHEMA: schema }),
    },
  });
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as JestReport;
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const names = (some: typeof tests) => new Set(some.map(({ fullName }) => fullName));
  return { all: names(tests), passed: names(tests.filter(({ status }) => status === "passed")) };
}

interface JestReport {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** The suite connects by the variables of libpq. */
export function connectionOf(server: { url(): string }) {
  const { host, port, user } = new pg.Client({ connectionString: server.url() });
  return { PGHOST: host, PGPORT: String(port), PGUSER: user ?? "postgres" };
}
