// Creates and starts a virtual machine with Debian, in which systemd is PID 1. The machine's second disk has the files
// under test, and guest.sh, which checks these files. qemu emulates the processor, which is slow, unless
// WORKER_VM_ACCEL=kvm is set.
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  createReadStream,
  existsSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const run = promisify(execFile);

const SUITE = "bookworm";
const PACKAGES = [
  ...["systemd", "systemd-sysv", "dbus", "libstdc++6", "postgresql", "python3", "curl", "openssl"],
  ...["ssl-cert", "procps", "linux-image-cloud-amd64", "initramfs-tools", "zstd"],
  // For the container image, which guest.sh builds and runs.
  ...["podman", "crun", "catatonit", "netavark"],
];

const TRIED = "/etc/systemd/system/tried.service";
const UNIT = `[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'mount -o ro /dev/vdb /mnt; bash /mnt/guest.sh; systemctl poweroff --no-block'
[Install]
WantedBy=multi-user.target
`;

/**
 * Unmounts everything inside a folder, and removes the folder. An interrupted debootstrap leaves the host's /proc
 * mounted in the folder.
 */
export function removeFolder(folder: string): void {
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
  const inside = mounts
    .map((line) => line.split(" ")[1] ?? "")
    .filter((at) => at.startsWith(`${folder}/`));
  for (const at of inside.toReversed()) execFileSync("umount", [at]);
  execFileSync("rm", ["-rf", "--one-file-system", folder]);
}

/** Creates `root.img`, `kernel` and `initrd` in the directory, unless `root.img` exists. */
export async function makeRoot(directory: string): Promise<void> {
  const image = join(directory, "root.img");
  if (existsSync(image)) return;
  const root = join(directory, "root");
  removeFolder(root);
  const include = `--include=${PACKAGES.join(",")}`;
  await runProgram("debootstrap", "--variant=minbase", include, SUITE, root);
  writeFileSync(join(root, TRIED), UNIT);
  await run("chroot", [root, "systemctl", "enable", "tried.service"]);
  writeFileSync(join(root, "etc/fstab"), "/dev/vda / ext4 defaults 0 0\n");
  const boot = readdirSync(join(root, "boot"));
  for (const [name, begins] of [
    ["kernel", "vmlinuz-"],
    ["initrd", "initrd.img-"],
  ] as const) {
    const found = boot.find((one) => one.startsWith(begins));
    if (found === undefined)
      throw new Error(`no file in /boot of the new machine begins with ${begins}`);
    copyFileSync(join(root, "boot", found), join(directory, name));
  }
  await makeDisk(root, image, "3G");
  removeFolder(root);
}

/** Creates an image of an ext4 file system with the contents of a folder. `size`: such as `3G`. */
export async function makeDisk(folder: string, image: string, size: string): Promise<void> {
  await run("mke2fs", ["-q", "-F", "-t", "ext4", "-d", folder, image, size]);
}

async function runProgram(program: string, ...args: string[]): Promise<void> {
  await run(program, args, { maxBuffer: 64 * 1024 * 1024 }).catch((error: { stdout?: string }) => {
    throw new Error(`${program} failed: ${String(error.stdout ?? error).slice(-2_000)}`);
  });
}

export interface CheckResult {
  readonly title: string;
  /** The output of the failed check; null: the check has passed. */
  readonly problem: string | null;
}

const MAX_MS = 60 * 60_000;

/**
 * Runs the machine until it switches itself off, for at most an hour. Returns the results of the checks in guest.sh.
 * `disk`: the image of the second disk. `onFigure` is called with each text that guest.sh prints after `@@ figure`.
 */
export async function boot(
  directory: string,
  disk: string,
  onFigure: (figure: string) => void,
): Promise<CheckResult[]> {
  const serial = join(directory, "serial.log");
  const drive = (file: string, more: string) => [
    "-drive",
    `file=${file},format=raw,if=virtio,${more}`,
  ];
  const machine = spawn(
    "qemu-system-x86_64",
    [
      ...["-accel", process.env["WORKER_VM_ACCEL"] ?? "tcg,thread=multi", "-cpu", "max"],
      ...["-m", "1536", "-smp", "2", "-nographic", "-no-reboot", "-net", "none"],
      ...["-serial", `file:${serial}`, "-monitor", "none"],
      ...["-kernel", join(directory, "kernel"), "-initrd", join(directory, "initrd")],
      "-append",
      "console=ttyS0 root=/dev/vda rw quiet loglevel=3 systemd.show_status=0 systemd.mask=serial-getty@ttyS0.service",
      ...drive(join(directory, "root.img"), "snapshot=on"),
      ...drive(disk, "readonly=on"),
    ],
    { stdio: "ignore", timeout: MAX_MS, killSignal: "SIGKILL" },
  );
  await once(machine, "exit");
  return read(serial, onFigure);
}

/** Reads the results from the console. The lines `@@   …` after a line `@@ failed …` are the output of this check. */
async function read(serial: string, onFigure: (figure: string) => void): Promise<CheckResult[]> {
  const results: { title: string; problem: string | null }[] = [];
  let isWhole = false;
  for await (const line of createInterface({ input: createReadStream(serial) })) {
    const [, word = "", rest = ""] = /@@ (ok|failed|figure|end| ) ?(.*)/.exec(line) ?? [];
    const last = results.at(-1);
    if (word === "ok") results.push({ title: rest, problem: null });
    else if (word === "failed") results.push({ title: rest, problem: "" });
    else if (word === "figure") onFigure(rest);
    else if (word === "end") isWhole = true;
    else if (word === " " && last !== undefined) last.problem += `${rest}\n`;
  }
  if (!isWhole) results.push({ title: "The checks ran to their end.", problem: `see ${serial}` });
  return results;
}
