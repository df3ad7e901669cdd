// Tests the systemd units: their commands and variables are valid, systemd accepts the units, and their services have
// few privileges.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { adminNotes } from "../../src/cli/admin/admin-server.ts";
import { callsIn, refusalOf } from "../docs/shell-words.ts";
import { check, newFolder, readDeployed, secondsOf, unlessInstalled } from "./files.ts";

const SERVICES = ["worker.service", "worker-admin.service"];
const UNITS = [...SERVICES, "worker-admin.socket"];
const DROP_IN = "worker-admin-tls.conf";
const folder = newFolder();

/** Returns the values of all lines of a unit that begin with `name=`, including lines that are commented out. */
const valuesOf = (unit: string, name: string) =>
  [...readDeployed(`systemd/${unit}`).matchAll(new RegExp(`^#?${name}=(.*)$`, "gm"))].map(
    ([, value = ""]) => value,
  );

test("The commands, credentials and variables of the units are valid.", () => {
  for (const unit of SERVICES) {
    const [command = ""] = valuesOf(unit, "ExecStart");
    const [call = []] = callsIn(command);
    assert.equal(refusalOf(call), null, command);
    for (const credential of valuesOf(unit, "LoadCredential")) {
      const variable = credential.replace(/:.*/, "").replaceAll("-", "_").toUpperCase();
      assert.ok(variable === "DATABASE_URL" || adminNotes.includes(variable), credential);
    }
    const patience = secondsOf(valuesOf(unit, "TimeoutStopSec")[0] ?? "");
    assert.ok(patience >= (unit === "worker.service" ? 35 : 10), unit);
    assert.deepEqual(valuesOf(unit, "NotifyAccess"), ["all"]);
  }
  for (const set of valuesOf(DROP_IN, "Environment")) {
    const [name = "", value = ""] = set.split("=");
    const option = name.replace("WORKER_ADMIN_", "--").replaceAll("_", "-").toLowerCase();
    assert.equal(refusalOf(["admin", `${option}=${value}`]), null, set);
  }
});

/**
 * Writes the units to `folder`, and returns their paths. The program in the units is replaced by /bin/true, and the
 * drop-in is appended to the unit of the admin.
 */
function installed(): string[] {
  return UNITS.map((unit) => {
    const path = join(folder, unit);
    const text = readDeployed(`systemd/${unit}`).replaceAll("/usr/local/bin/worker", "/bin/true");
    const more = unit === "worker-admin.service" ? readDeployed(`systemd/${DROP_IN}`) : "";
    writeFileSync(path, `${text}\n${more}`);
    return path;
  });
}

const skip = unlessInstalled("systemd-analyze");

test("systemd accepts the units without a warning.", { skip }, async () => {
  assert.equal(await check("systemd-analyze", "verify", "--man=no", ...installed()), "");
});

test("systemd rates the exposure of each service at no more than 1.6 of 10.", {
  skip,
}, async () => {
  for (const path of installed().slice(0, SERVICES.length)) {
    const args = ["security", "--no-pager", "--offline=true", "--threshold=16", path];
    assert.match(await check("systemd-analyze", ...args), /Overall exposure level .*: \d/);
  }
});
