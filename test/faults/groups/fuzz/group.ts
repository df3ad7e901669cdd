// What npm run fuzz:admin does, for a while: hostile requests to every route. FAULTS_FUZZ_REQUESTS asks for
// more of them, such as a million, for which the group's time does not do on every machine.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Field } from "../../field/field.ts";
import type { Server } from "../../field/server.ts";

const root = join(import.meta.dirname, "../../../..");
const REQUESTS = 40_000;
const SECONDS = 90;

export async function fuzz(field: Field, server: Server): Promise<void> {
  const url = await server.createDatabase("fuzz");
  await server.sql(
    "select worker.add_job('t' || n % 7, json_build_object('n', n), 'q' || n % 5) from generate_series(1, 500) n",
    [],
    "fuzz",
  );
  const given = process.env["FAULTS_FUZZ_REQUESTS"];
  const requests = given ?? String(field.times(REQUESTS, 1_500));
  const seconds = given === undefined ? String(SECONDS) : "36000";
  const out = join(field.directory, "fuzz.out");
  const log = openSync(join(field.directory, "fuzz.log"), "w");
  const file = openSync(out, "w");
  const words = ["--url", url, "--requests", requests, "--seconds", seconds];
  const child = spawn(
    process.execPath,
    [
      ...[
        "--import",
        join(root, "test/support/register.mjs"),
        join(root, "test/bench/fuzz/run.ts"),
      ],
      ...words,
      ...["--seed", String(field.seed % 1_000_000)],
    ],
    { stdio: ["ignore", file, log] },
  );
  field.defer(() => child.kill("SIGKILL"));
  const [code] = await once(child, "exit");
  closeSync(log);
  closeSync(file);
  const said = readFileSync(out, "utf8");
  const [, done = "0", peak = "0"] =
    [...said.matchAll(/ s: (\d+) requests, .* (\d+) MB at most/g)].at(-1) ?? [];
  field.figure("hostile requests", null, Number(done), { least: 1_000, unit: "" });
  field.figure("memory at most, fuzzed", null, Number(peak), { most: 512, unit: "MB" });
  if (code !== 0) field.problem(null, `the fuzzing ended with ${code}; see ${out}`);
  if (!said.includes("it is alive")) field.problem(null, `the admin is dead; see ${out}`);
  // What PostgreSQL could not do in time is an answer, too; what nobody foresaw is not.
  const findings = /^ {2}\d+ × (?!50[34] ).*$/gm;
  for (const [finding] of said.matchAll(findings)) field.problem(null, `fuzz: ${finding.trim()}`);
}
