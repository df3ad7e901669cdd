// worker licenses: prints the notices of all third-party software in this program. The build collects the notices.
import { WorkerError } from "../../../base/errors.ts";
import { printOwn } from "../../output/print.ts";
import { defineCommand } from "../../shell/globals.ts";

export const licensesCommand = defineCommand({
  name: "licenses",
  describe: "Print the licences of the included software: packages, Node.js, PostgreSQL",
  unsupported: { databaseUrl: "it needs no database", schema: "it needs no database" },
  run: async () => {
    const packed = await embeddedText();
    const { brotliDecompressSync } = await import("node:zlib");
    printOwn(brotliDecompressSync(Buffer.from(packed, "base64")).toString());
    return undefined;
  },
});

async function embeddedText(): Promise<string> {
  try {
    const { default: text } = await import("../../../../dist/third-party-notices.json", {
      with: { type: "json" },
    });
    return text;
  } catch (cause) {
    const message = 'the notices are missing from this build; run "node build.mjs assets"';
    throw new WorkerError("configuration", message, { cause });
  }
}
