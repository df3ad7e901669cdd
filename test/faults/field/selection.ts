// Runs a group of faults as a test of `npm run test:all`, with few repetitions. The test fails if the group has
// problems, such as broken rules of the oracle. Figures beyond their bounds do not make it fail, because times that are
// measured on a busy machine prove nothing.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FaultGroup } from "./field.ts";
import type { ModeSlug } from "./modes.ts";
import { runGroup } from "./result.ts";

export async function selection(
  group: FaultGroup,
  { modes = [] }: { readonly modes?: readonly ModeSlug[] } = {},
): Promise<void> {
  const seed = Number(process.env["FAULTS_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
  const directory = join(tmpdir(), `worker-faults-${group.name}-${seed}-${process.pid}`);
  const lines: string[] = [];
  const options = { seed, modes, brief: true, directory, say: (line: string) => lines.push(line) };
  const { problems } = await runGroup(group, options);
  const again = `FAULTS_SEED=${seed}, ${directory}\n${lines.join("\n")}`;
  assert.deepEqual(problems, [], again);
  rmSync(directory, { recursive: true, force: true });
}
