// The model of a queue (world.ts) as one function. It applies a call to the model's state, and returns the result that
// the product should return for the same call.
import { add, remove } from "./adding.ts";
import { type Call, placesOf } from "./calls.ts";
import { fail, finish, giveBack, spentQueues, unlockQueues } from "./ending.ts";
import { operate } from "./operating.ts";
import * as recovering from "./recovering.ts";
import { take } from "./taking.ts";
import { SECOND, type World } from "./world.ts";

/**
 * Applies the call to `world`, and returns the call's result. `answered`: the result that the product has returned for
 * the same call. Only a take uses it: of equally urgent jobs, the model first takes those that the product has taken.
 */
export function inModel(world: World, call: Call, answered: unknown): unknown {
  const places = placesOf(world, call);
  switch (call.do) {
    case "add":
      return add(world, call.specs);
    case "remove":
      return remove(world, call.key);
    case "take":
      return take(world, call, answered as number[]);
    case "finish": {
      unlockQueues(world, call.by, spentQueues(world, call.by, places));
      return finish(world, call.by, places);
    }
    case "fail":
      return fail(world, call.by, places, call.error);
    case "give back":
      return giveBack(world, call.by, places);
    case "operate":
      return operate(world, call.verb, places);
    case "enlist":
      return recovering.enlist(world, call.by, call.terms);
    case "heartbeat":
      return recovering.heartbeat(world, call.by);
    case "sweep":
      return recovering.sweep(world, call.delayMs);
    case "sweep by hand":
      return recovering.sweepByHand(world, call.thresholdMs, call.delayMs);
    case "reset old locks":
      return recovering.resetOldLocks(world);
    case "renew":
      return recovering.renew(world, call.by, places);
    case "force unlock":
      return recovering.forceUnlock(world, call.by);
    case "time passes":
      world.now += call.seconds * SECOND;
      return undefined;
    default:
      return call satisfies never;
  }
}
