// The version, from package.json: the bundler puts it into the one file that is shipped.
import manifest from "../../package.json" with { type: "json" };

export const VERSION: string = manifest.version;
