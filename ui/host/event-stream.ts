/** The stream of live events. It is read with fetch(), because EventSource cannot send a header with a token. */
import { serverUrl } from "./address.ts";
import { headersOf } from "./request.ts";
import type { Runner } from "./runner.ts";

/** The stream is closed if no response and no chunk arrives for this time. */
const SILENCE_MS = 90_000;
/** The stream is closed if an incomplete event has more characters than this. */
const MAX_CHARS = 8_000_000;

export class EventStream {
  readonly #runner: Runner;
  #abort: AbortController | undefined;
  #early: StreamReading | undefined;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /**
   * Opens a stream before the application is compiled, to save time. If the first call of open() has the same path and
   * no headers, the call uses this stream.
   */
  openEarly(path: string): void {
    this.#early = this.#ask(path, "");
  }

  /** Closes the open stream, if any, and opens a new stream. `headers`: the header line with the token, or empty. */
  open(path: string, headers: string): void {
    this.close();
    const early = this.#early;
    this.#early = undefined;
    const isSame = early?.path === path && !headers;
    if (!isSame) early?.abort.abort();
    const { abort, begin, status } = isSame ? early : this.#ask(path, headers);
    this.#abort = abort;
    begin();
    void status.then((refusal) => {
      // The end of a stream that was closed on purpose is not reported.
      if (abort === this.#abort) this.#runner.run((app) => app.onStreamClose(refusal));
    });
  }

  close(): void {
    this.#abort?.abort();
    this.#abort = undefined;
  }

  #ask(path: string, headers: string): StreamReading {
    const abort = new AbortController();
    let begin = () => {};
    const wanted = new Promise<void>((resolve) => {
      begin = resolve;
    });
    return { path, abort, begin, status: this.#read(path, headers, abort, wanted) };
  }

  /**
   * The application gets no event before `wanted` resolves. Returns the status of an error response, 501 for another
   * response that is not an event stream, and otherwise 0.
   */
  async #read(
    path: string,
    lines: string,
    abort: AbortController,
    wanted: Promise<void>,
  ): Promise<number> {
    let silence: ReturnType<typeof setTimeout> | undefined;
    const awaitChunk = () => {
      clearTimeout(silence);
      silence = setTimeout(() => abort.abort(), SILENCE_MS);
    };
    try {
      awaitChunk();
      const url = serverUrl(path);
      const headers = headersOf(lines);
      const response = await fetch(url, { headers, signal: abort.signal, cache: "no-store" });
      const type = response.headers.get("content-type");
      if (!response.ok) return response.status;
      if (!response.body || !type?.startsWith("text/event-stream")) return 501;
      const chunks = response.body.pipeThrough(new TextDecoderStream());
      await wanted;
      this.#report(abort, (app) => app.onStreamOpen());
      const parser = new EventParser((event, data) =>
        this.#report(abort, (app) => app.onEvent(event, data)),
      );
      for await (const chunk of chunks) {
        awaitChunk();
        if (!parser.push(chunk)) break;
      }
    } catch {
      // An abort or a broken connection ends the stream without an error.
    } finally {
      clearTimeout(silence);
      abort.abort();
    }
    return 0;
  }

  #report(abort: AbortController, step: Parameters<Runner["run"]>[0]): void {
    if (abort === this.#abort) this.#runner.run(step);
  }
}

interface StreamReading {
  readonly path: string;
  readonly abort: AbortController;
  readonly begin: () => void;
  readonly status: Promise<number>;
}

/** Parses an event stream from chunks. A chunk may end anywhere, even within a line. */
export class EventParser {
  readonly #emit: (event: string, data: string) => void;
  #rest = "";
  #event = "";
  #data: string[] = [];
  #size = 0;

  constructor(emit: (event: string, data: string) => void) {
    this.#emit = emit;
  }

  /** Emits the events that the chunk completes. Returns false if the incomplete event after them is too long. */
  push(chunk: string): boolean {
    const lines = (this.#rest + chunk).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
    return this.#rest.length + this.#size <= MAX_CHARS;
  }

  #line(line: string): void {
    if (line === "") {
      if (this.#data.length > 0) this.#emit(this.#event, this.#data.join("\n"));
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
