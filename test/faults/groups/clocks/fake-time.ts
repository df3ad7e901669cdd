// Gives a process a wrong time of day. The process loads Debian's libfaketime, which reads the offset of the clock from
// a file. The monotonic clock stays correct, because the monotonic clock of a real machine does not jump either.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serverAccount } from "../../../../src/database/embedded/account.ts";
import { findBinaries } from "../../../../src/database/embedded/binaries.ts";

const library = ["x86_64-linux-gnu", "aarch64-linux-gnu"]
  .map((machine) => `/usr/lib/${machine}/faketime/libfaketimeMT.so.1`)
  .find((path) => existsSync(path));

export interface FakeClock {
  /** The environment for the process that gets this clock. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets the clock to `seconds` ahead of the true time; a negative number: behind it. Takes effect within 2 s. */
  step(seconds: number): void;
}

export function fakeClock(directory: string, name: string, seconds: number): FakeClock {
  if (library === undefined) throw new Error("libfaketime is missing: install Debian's faketime");
  const file = join(directory, `${name}.time`);
  const step = (to: number) => writeFileSync(file, `${to < 0 ? "-" : "+"}${Math.abs(to)}\n`);
  step(seconds);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      DONT_FAKE_MONOTONIC: "1",
    },
    step,
  };
}

/**
 * Fills `directory` with links to PostgreSQL's files, and with a script `postgres` that starts the real `postgres` with
 * this clock. Returns `directory`.
 */
export function serverWith({ env }: FakeClock, directory: string): string {
  const real = findBinaries(serverAccount());
  mkdirSync(join(directory, "bin"), { recursive: true });
  for (const name of ["lib", "share", "bin/initdb"]) {
    symlinkSync(join(real, name), join(directory, name));
  }
  // startEmbeddedServer() does not pass on this process's environment, so the script sets the variables.
  const words = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
  const script = `#!/bin/sh\nexec env ${words.join(" ")} '${real}/bin/postgres' "$@"\n`;
  writeFileSync(join(directory, "bin/postgres"), script, { mode: 0o755 });
  return directory;
}
