/** The prefixes of the flags that store a job's retry policy by name, and its deadline in milliseconds since 1970. */

export const RETRY: string = "retry:";
export const DEADLINE: string = "deadline:";
