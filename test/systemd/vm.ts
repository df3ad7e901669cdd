// Tests the executable, the units and the container image under a real systemd: npm run test:systemd. A virtual machine
// with Debian is created (debootstrap) and booted (qemu), and runs the commands of docs/deploy.md. The checks are in
// guest.sh. With WORKER_VM=DIRECTORY, the machine's root disk is kept in that directory for the next run.
import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { installedProgram, root } from "../binary/program.ts";
import { boot, makeDisk, makeRoot, removeFolder } from "./machine.ts";

const NEEDED: Readonly<Record<string, string>> = {
  "/usr/sbin/debootstrap": "debootstrap",
  "/usr/bin/qemu-system-x86_64": "qemu-system-x86",
  "/usr/sbin/mke2fs": "e2fsprogs",
};
const lacking = Object.keys(NEEDED).filter((path) => !existsSync(path));
const skip =
  process.getuid?.() !== 0
    ? "only the user root can create the machine's file system"
    : lacking.length > 0
      ? `install first: apt-get install ${lacking.map((path) => NEEDED[path]).join(" ")}`
      : false;

const keptDirectory = process.env["WORKER_VM"];
const directory = keptDirectory ?? mkdtempSync("/var/tmp/worker-vm-");
after(() => {
  if (keptDirectory === undefined) removeFolder(directory);
});

/** Returns the commands that docs/deploy.md contains for systemd. The VM runs them as install.sh. */
function installation(guide: string): string {
  const [, block] = /```sh norun=systemd\n([\s\S]*?)```/.exec(guide) ?? [];
  assert.ok(block, "docs/deploy.md has no block for systemd");
  return block;
}

async function payload(): Promise<string> {
  const guide = readFileSync(join(root, "docs/deploy.md"), "utf8");
  const folder = join(directory, "payload");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(await installedProgram(), join(folder, "worker"));
  cpSync(join(root, "dist/THIRD_PARTY_NOTICES"), join(folder, "THIRD_PARTY_NOTICES"));
  cpSync(join(root, "deploy"), join(folder, "deploy"), { recursive: true });
  cpSync(join(import.meta.dirname, "guest.sh"), join(folder, "guest.sh"));
  writeFileSync(join(folder, "install.sh"), installation(guide));
  writeFileSync(join(folder, "exposure"), /exposure ([\d.]+) of 10/.exec(guide)?.[1] ?? "");
  const disk = join(directory, "payload.img");
  await makeDisk(folder, disk, "400M");
  return disk;
}

test("Under systemd as PID 1 the units work as docs/deploy.md describes.", { skip }, async (t) => {
  mkdirSync(directory, { recursive: true });
  await makeRoot(directory);
  const disk = await payload();
  const results = await boot(directory, disk, (figure) => t.diagnostic(figure));
  for (const { title, problem } of results) {
    await t.test(title, () => assert.ok(problem === null, problem ?? ""));
  }
});
