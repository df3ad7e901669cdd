// Sends hostile requests to all routes of the admin, at full speed over many connections. Prints how many responses had
// a status 5xx, were malformed, ended too early or did not arrive; the admin's memory; and whether the admin still runs
// at the end. With the same seed, each client sends the same requests. With `--client 7`, only client 7 sends its
// requests. Use a disposable database.
//
//   npm run fuzz:admin -- --url postgres://…/throwaway [--requests 100000] [--seconds 240]
//     [--connections 32] [--seed 1] [--client 7] 2>admin.log
import { parseArgs } from "node:util";
import { startAdminProcess } from "../admin/admin-process.ts";
import { fuzzAdmin } from "./fuzz-admin.ts";

const { values: options } = parseArgs({
  options: {
    url: { type: "string" },
    requests: { type: "string", default: "100000" },
    seconds: { type: "string", default: "240" },
    connections: { type: "string", default: "32" },
    seed: { type: "string", default: "1" },
    client: { type: "string" },
  },
});
if (options.url === undefined) throw new Error("pass the URL of a disposable database with --url");

const admin = await startAdminProcess(options.url);
console.log(`seed ${options.seed}`);
const { tally, isAlive } = await fuzzAdmin([admin], {
  requests: Number(options.requests),
  seconds: Number(options.seconds),
  clients: Number(options.connections),
  seed: Number(options.seed),
  only: options.client === undefined ? undefined : Number(options.client),
  say: (line) => console.log(line),
});
for (const line of tally.lines()) console.log(line);
const findings = tally.findings();
console.log(findings.length === 0 ? "no findings" : "findings:");
for (const { what, count, samples } of findings) {
  console.log(`  ${count} × ${what}`);
  for (const sample of samples) console.log(`    ${sample}`);
}
console.log(isAlive ? "the admin is alive" : "the admin is not alive");
await admin.stop();
