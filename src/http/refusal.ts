// A refused request: an error that becomes an HTTP status (401, 403, 405, 413, …). Failures of the work itself are
// InputError and WorkerError. endpoint.ts turns all of them into responses.

export interface RefusalOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the JSON response. */
  readonly members?: Readonly<Record<string, unknown>>;
}

export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, unknown>>;

  /** `message` is for people, `code` for programs. */
  constructor(status: number, code: string, message: string, options: RefusalOptions = {}) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.code = code;
    this.headers = options.headers ?? {};
    this.members = options.members ?? {};
  }
}

/** Refuses a request that would outlive the server. */
export const stopping = new Refusal(503, "aborted", "the server is stopping; try again", {
  headers: { "retry-after": "2" },
});
