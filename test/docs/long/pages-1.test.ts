// Runs the code blocks of every second page of the documentation, from the first page on. There are two such files, so
// that two processes share the work.
import { testEverySecondPage } from "../running-blocks.ts";

testEverySecondPage(0);
