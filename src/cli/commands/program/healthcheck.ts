// worker healthcheck: asks an admin server whether it is ready; for containers without curl.
import { codeOf, InputError, messageOf, WorkerError } from "../../../base/errors.ts";
import { defaulting, span, text } from "../../arguments/values.ts";
import { print, printJson } from "../../output/print.ts";
import { defineCommand } from "../../shell/globals.ts";

export const healthcheckCommand = defineCommand({
  name: "healthcheck",
  describe: "Ask a running admin server whether it is ready",
  words: {
    url: {
      ...defaulting(text("Of the admin", { form: "url" }), "http://127.0.0.1:5678"),
      optional: true,
    },
  },
  options: { timeout: { ...span("How long the answer may take"), fallback: "5s" } },
  notes: "Asks <url>/readyz. Exit status: 0 it is ready; 1 it is not, or does not answer in time.",
  refuses: {
    databaseUrl: "it asks the server",
    schema: "it asks the server",
  },
  run: async ({ url, timeout = 5_000, json }) => {
    const address = readyAddress(url);
    const { status, body } = await answerOf(address, timeout);
    if (status !== 200) {
      const reason = typeof body["reason"] === "string" ? ` (${body["reason"]})` : "";
      throw new WorkerError("busy", `${address.href} is not ready: it answers ${status}${reason}`);
    }
    if (json) printJson(JSON.stringify(body));
    else
      print(
        `ready${body["read_only_server"] === true ? ", on a server that takes no writes" : ""}`,
      );
    return undefined;
  },
});

function readyAddress(typed: string): URL {
  const url = URL.parse(typed);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InputError([
      { path: "<url>", message: "must be a URL such as http://127.0.0.1:5678" },
    ]);
  }
  // The route is open to everybody: nobody has to see what logs in elsewhere.
  url.username = "";
  url.password = "";
  url.search = "";
  if (!url.pathname.endsWith("/readyz"))
    url.pathname = `${url.pathname.replace(/\/+$/, "")}/readyz`;
  return url;
}

const LONGEST_BODY_BYTES = 64 * 1024;

async function answerOf(url: URL, limitMs: number) {
  try {
    const signal = AbortSignal.timeout(limitMs);
    const answer = await fetch(url, { signal, redirect: "manual" });
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of answer.body ?? []) {
      bytes += chunk.length;
      if (bytes > LONGEST_BODY_BYTES) break;
      chunks.push(chunk);
    }
    return { status: answer.status, body: membersOf(Buffer.concat(chunks).toString()) };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const late = error instanceof DOMException && error.name === "TimeoutError";
    const detail = late ? `no answer within ${limitMs} ms` : (codeOf(cause) ?? messageOf(cause));
    throw new WorkerError("timeout", `${url.href} does not answer (${detail})`);
  }
}

function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
