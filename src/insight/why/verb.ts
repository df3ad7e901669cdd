// What a person may do about a cause: one verb, and what it is done to. Who shows it makes a request or
// a command of it.
export type Verb =
  | {
      readonly action: "force-unlock";
      readonly label: string;
      readonly workerIds: readonly string[];
    }
  | {
      readonly action: "run-now" | "retry" | "fail" | "stop-retrying";
      readonly label: string;
      readonly jobIds: readonly string[];
    }
  /** To all that a query matches. */
  | { readonly action: "retry"; readonly label: string; readonly q: string };
