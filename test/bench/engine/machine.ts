// A paragraph of the benchmark's report: the machine and the versions with which the figures were measured.
import { readFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { VERSION } from "../../../src/base/version.ts";
import type { BenchOptions } from "./options.ts";

export function machine(postgres: string, { rounds, jobs, checksums }: BenchOptions): string {
  const processors = cpus();
  const memory_GiB = Math.round(totalmem() / 2 ** 30);
  const load = loadavg()[0]?.toFixed(1);
  return [
    `${new Date().toISOString().slice(0, 10)}, ${processors.length} × ${processors[0]?.model.trim()},`,
    `${memory_GiB} GiB, load average ${load} at the end;`,
    `Node ${process.versions.node}, PostgreSQL ${postgres} (fsync on, data checksums ${checksums ? "on" : "off"}),`,
    `graphile-worker ${versionOf("graphile-worker")}, pg-boss ${versionOf("pg-boss")}, ours ${VERSION}.`,
    `Medians of ${rounds} interleaved rounds; drains of ${jobs.toLocaleString("en")} jobs.`,
  ].join("\n");
}

function versionOf(name: string): string {
  const file = new URL(`../../../node_modules/${name}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
