// The error for a refused request, with the HTTP status of the response (401, 403, 405, 413, …). The reads and
// commands that a request calls throw InputError and WorkerError instead. endpoint.ts turns all these errors into
// responses.

export interface RefusalOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Members of the JSON response in addition to `error` and `code`. */
  readonly members?: Readonly<Record<string, unknown>>;
}

export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, unknown>>;

  /** `message`: a text for people. `code`: a code for programs. Both are in the JSON response. */
  constructor(status: number, code: string, message: string, options: RefusalOptions = {}) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.code = code;
    this.headers = options.headers ?? {};
    this.members = options.members ?? {};
  }
}

/** The refusal of event streams, downloads and writes while the server is stopping. */
export const stopping = new Refusal(503, "aborted", "the server is stopping; try again", {
  headers: { "retry-after": "2" },
});
