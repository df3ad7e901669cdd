/**
 * The live event stream, read with fetch because EventSource can't send a token header. It does
 * not reconnect: the application decides when to try again.
 */
import { serverUrl } from "./address.ts";
import type { Runner } from "./runner.ts";

/** A stream without a byte for this long is taken for dead. */
const SILENCE_MS = 90_000;
/** An event longer than this ends the stream. */
const MOST_CHARS = 8_000_000;

export class EventStream {
  readonly #runner: Runner;
  #abort: AbortController | undefined;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  open(path: string, headers: Headers): void {
    this.close();
    const abort = new AbortController();
    this.#abort = abort;
    headers.set("accept", "text/event-stream");
    void this.#read(path, headers, abort).then((status) => {
      // A stream that was closed on purpose has nothing to say.
      if (abort === this.#abort) this.#runner.run((app) => app.streamClosed(status));
    });
  }

  close(): void {
    this.#abort?.abort();
    this.#abort = undefined;
  }

  /** Reads to the end; gives the status of a refusal, or 0. */
  async #read(path: string, headers: Headers, abort: AbortController): Promise<number> {
    let silence: ReturnType<typeof setTimeout> | undefined;
    try {
      const url = serverUrl(path, document.baseURI);
      const response = await fetch(url, { headers, signal: abort.signal, cache: "no-store" });
      const type = response.headers.get("content-type") ?? "";
      if (!response.ok) return response.status;
      if (!response.body || !type.startsWith("text/event-stream")) return 501;
      this.#tell(abort, (app) => app.streamOpened());
      const parser = new EventParser((event, data) =>
        this.#tell(abort, (app) => app.pushed(event, data)),
      );
      for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
        clearTimeout(silence);
        silence = setTimeout(() => abort.abort(), SILENCE_MS);
        if (!parser.push(chunk)) break;
      }
    } catch {
      // An abort, or a broken connection: both end the stream.
    } finally {
      clearTimeout(silence);
      abort.abort();
    }
    return 0;
  }

  #tell(abort: AbortController, step: Parameters<Runner["run"]>[0]): void {
    if (abort === this.#abort) this.#runner.run(step);
  }
}

/** Takes the text of an event stream apart, however it was cut into chunks. */
export class EventParser {
  readonly #emit: (event: string, data: string) => void;
  #rest = "";
  #event = "";
  #data: string[] = [];
  #size = 0;

  constructor(emit: (event: string, data: string) => void) {
    this.#emit = emit;
  }

  /** False when the stream grew beyond its bound. */
  push(chunk: string): boolean {
    const lines = (this.#rest + chunk).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
    return this.#rest.length + this.#size <= MOST_CHARS;
  }

  #line(line: string): void {
    if (line === "") {
      if (this.#data.length > 0) this.#emit(this.#event || "message", this.#data.join("\n"));
      this.#event = "";
      this.#data = [];
      this.#size = 0;
      return;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.#event = value;
    else if (name === "data") {
      this.#data.push(value);
      this.#size += value.length;
    }
  }
}
