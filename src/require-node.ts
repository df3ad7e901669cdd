// The library's first import. Throws when Node.js is too old.
import { nodeVersionProblem } from "./base/version.ts";

const problem = nodeVersionProblem("pg-job-worker");
if (problem !== null) throw new Error(problem);
