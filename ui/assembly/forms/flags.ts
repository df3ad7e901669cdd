/** The flags by which a job keeps the name of its retry policy, and its deadline in milliseconds. */

export const RETRY: string = "retry:";
export const DEADLINE: string = "deadline:";
