// Reads service files. In such a file, each service is a set of connection parameters with a name (PostgreSQL
// documentation, "The Connection Service File").
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { codeOf, InputError, messageOf } from "../../../base/errors.ts";
import { setParameter } from "./connection-text.ts";
import type { ParameterSet, SourcedText } from "./parameters.ts";

/**
 * Returns the parameters of a service. They are read from `file`, by default ~/.pg_service.conf. If this file does not
 * have the service, they are read from pg_service.conf in the directory PGSYSCONFDIR, if this environment variable is
 * set. Throws InputError if no file has the service, or if a file cannot be read or parsed. A missing file is an error
 * only if it is `file`.
 */
export function parametersOfService(
  service: SourcedText,
  file: SourcedText | undefined,
  env: NodeJS.ProcessEnv,
): ParameterSet {
  const files = [file?.text ?? join(homedir(), ".pg_service.conf")];
  const { PGSYSCONFDIR } = env;
  if (PGSYSCONFDIR) files.push(join(PGSYSCONFDIR, "pg_service.conf"));
  for (const path of files) {
    const lines = linesOf(path, path === file?.text ? file : undefined);
    const section = sectionOf(lines, service.text, path);
    if (section !== null) return section;
  }
  throw new InputError(
    `${service.where} names the service "${service.text}", which is not in ${files.join(" or ")}`,
  );
}

function linesOf(path: string, named: SourcedText | undefined): readonly string[] {
  try {
    return readFileSync(path, "utf8").split(/\r?\n/);
  } catch (error) {
    if (named === undefined && codeOf(error) === "ENOENT") return [];
    throw new InputError(`${named?.where ?? path} cannot be read: ${messageOf(error)}`);
  }
}

function sectionOf(lines: readonly string[], service: string, path: string): ParameterSet | null {
  let section: ParameterSet | null = null;
  for (const [index, text] of lines.entries()) {
    const line = text.trim();
    if (line === "" || line.startsWith("#")) continue;
    if (line.startsWith("[")) {
      if (section !== null) return section;
      if (line === `[${service}]`) section = {};
      continue;
    }
    if (section === null) continue;
    const where = `in ${path}, line ${index + 1},`;
    const at = line.indexOf("=");
    if (at < 0) throw new InputError(`the text ${where} is not of the form name=value`);
    const name = line.slice(0, at).trim();
    if (name === "service") throw new InputError(`service ${where} cannot name another service`);
    setParameter(section, name, line.slice(at + 1).trim(), where);
  }
  return section;
}
