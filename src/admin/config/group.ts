// Finds the number of a group of the operating system. The group is given by its name or its number. Names are read
// from /etc/group. A group of another source, such as LDAP, must be given by its number.
import { readFileSync } from "node:fs";
import { InputError } from "../../base/errors.ts";

const GROUPS = "/etc/group";

/** Returns the number of a group. Throws InputError if the name is not in /etc/group, or if the number is too large. */
export function gidOf(group: string): number {
  const number = /^\d{1,10}$/.test(group) ? Number(group) : gidIn(groupLines(), group);
  if (number !== undefined && number < 2 ** 32 - 1) return number;
  const message = `"${group}" is not a group in ${GROUPS}; use a name from it, or the group's number`;
  throw new InputError([{ path: "listenGroup", message }]);
}

function groupLines(): string[] {
  try {
    return readFileSync(GROUPS, "utf8").split("\n");
  } catch {
    return []; // a container may lack the file
  }
}

/** Returns the number in a line such as `www-data:x:33:`. */
function gidIn(lines: readonly string[], name: string): number | undefined {
  const line = lines.find((one) => one.startsWith(`${name}:`));
  const [, , gid = ""] = line?.split(":") ?? [];
  return /^\d+$/.test(gid) ? Number(gid) : undefined;
}
