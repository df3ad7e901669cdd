// The needs of groups of fault tests: the root user, a control group that limits memory, programs, and older versions
// of Graphile Worker. Missing programs are installed with apt-get, and the versions of Graphile Worker with npm.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { hasOlderGraphile, installOlderGraphile } from "../../support/older-graphile.ts";
import { boundsMemory } from "./cgroup.ts";

const run = promisify(execFile);

/**
 * `isThere` returns whether a need is met. `debian`: the Debian package to install if it is not met; null: there is
 * none. `bring` installs what is in no Debian package, and returns a reason to report if the need is still not met.
 */
const NEEDS = {
  root: { isThere: async () => process.getuid?.() === 0, debian: null },
  "cgroup of memory": { isThere: boundsMemory, debian: null },
  netns: { isThere: () => works("unshare", "--net", "true"), debian: "util-linux" },
  ip: { isThere: () => works("ip", "-V"), debian: "iproute2" },
  pgbouncer: { isThere: async () => isFound("pgbouncer"), debian: "pgbouncer" },
  nginx: { isThere: async () => isFound("nginx"), debian: "nginx-light" },
  faketime: { isThere: () => works("faketime", "--version"), debian: "faketime" },
  pg_basebackup: {
    isThere: () => works("pg_basebackup", "--version"),
    debian: "postgresql-client",
  },
  "graphile-worker 0.16 and 0.17": {
    isThere: async () => hasOlderGraphile(),
    debian: null,
    bring: installOlderGraphile,
  },
} as const;

export type Need = keyof typeof NEEDS;

const works = (program: string, ...args: string[]) =>
  run(program, args).then(
    () => true,
    () => false,
  );

const isFound = (program: string) =>
  ["/usr/sbin", "/usr/bin", "/usr/local/bin"].some((place) => existsSync(`${place}/${program}`));

/** Tries to install what is missing. Returns a sentence for each need that is still not met. */
export async function missingNeeds(needs: readonly Need[]): Promise<string[]> {
  const problems: string[] = [];
  for (const need of needs) {
    const { isThere, bring } = { bring: () => install(NEEDS[need].debian), ...NEEDS[need] };
    if (await isThere()) continue;
    const why = await bring();
    if (!(await isThere())) problems.push(`${need} is missing: ${why}`);
  }
  return problems;
}

async function install(name: string | null): Promise<string> {
  if (name === null) return "it cannot be installed";
  if (process.getuid?.() !== 0 || !(await works("apt-get", "--version"))) {
    return `install Debian's ${name}, or run this as root on a system with apt-get`;
  }
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  try {
    await run("apt-get", ["update"], { env });
    await run("apt-get", ["install", "-y", "--no-install-recommends", name], { env });
    return `apt-get has installed ${name}, but the need is still not met`;
  } catch (error) {
    return `apt-get could not install ${name}: ${(error as Error).message.split("\n")[0]}`;
  }
}
