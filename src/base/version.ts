// The version, from package.json: the bundler puts it into the one file that is shipped.
import manifest from "../../package.json" with { type: "json" };

/** The version of this package. */
export const VERSION: string = manifest.version;
