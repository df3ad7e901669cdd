// The version, from package.json: the bundler puts it into the one file that is shipped.
import manifest from "../../package.json" with { type: "json" };

/** The version of this package. */
export const VERSION: string = manifest.version;

/** The oldest Node.js: an older one would fail in the middle of something, in words of its own. */
const LEAST_NODE = [22, 15] as const;

/** What is wrong with `version`, such as "22.15.0", in words; null = nothing. */
export function nodeVersionProblem(name: string, version = process.versions.node): string | null {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])) return null;
  return `this is Node.js ${version}, and ${name} needs ${LEAST_NODE.join(".")} or later`;
}
