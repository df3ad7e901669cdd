// The version of this package, which the bundler copies from package.json, and a check of the version of Node.js.
import manifest from "../../package.json" with { type: "json" };

/** The version of this package, such as `0.1.0`. */
export const VERSION: string = manifest.version;

/**
 * The oldest supported version of Node.js. Without a check, an older version would fail later, with an unclear error.
 */
const MIN_NODE_VERSION = [22, 15] as const;

/**
 * Returns a message if `version`, such as "22.15.0", is too old; null if it is new enough. `name`: the name of the
 * program or package in the message.
 */
export function nodeVersionProblem(name: string, version = process.versions.node): string | null {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (
    major > MIN_NODE_VERSION[0] ||
    (major === MIN_NODE_VERSION[0] && minor >= MIN_NODE_VERSION[1])
  )
    return null;
  return `this is Node.js ${version}, and ${name} needs ${MIN_NODE_VERSION.join(".")} or later`;
}
