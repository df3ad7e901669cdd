// The slots of managed queues: named queues with a limit. The row of a managed queue is always locked, but by no
// worker. Instead, each run locks a slot: a row of _private_queue_slots. While the queue is not paused, its `locked_by`
// is, for example:
//
//   managed:3  the queue has three slots
//   managed:0  the number of slots may differ from the limit; no run begins before a worker has corrected the number
import { MANAGED, UNLOCK } from "./lock.ts";

export const NO_SLOTS = `${MANAGED}0`;

/** Returns a condition on a row of queues: the queue is managed and not paused. */
export const isManaged = (queue: string): string =>
  `coalesce(pg_catalog.left(${queue}.locked_by, ${MANAGED.length}) = '${MANAGED}', false)`;

/** Returns a condition on a row of queues: runs may lock the queue's free slots. */
export const hasOpenSlots = (queue: string): string =>
  `${queue}.locked_by like '${MANAGED}%' and ${queue}.locked_by <> '${NO_SLOTS}'`;

/** Returns an expression: the number N in the lock `managed:N` of a queue; 1 for `managed:0` and for any other lock. */
export const slotCount = (queue: string): string =>
  `coalesce(nullif(pg_catalog.substring(${queue}.locked_by, '^${MANAGED}([0-9]{1,9})$')::int, 0), 1)`;

/** Returns a condition: the queue with this id has slots. The queue may be paused. */
export const hasSlots = (s: string, queueId: string): string =>
  `exists (select from ${s}._private_queue_slots as slots where slots.queue_id = ${queueId})`;

/** Returns assignments that lock a queue with slots as `managed:0`, and unlock any other queue. */
export const manageAgain = (s: string, queue: string): string =>
  `locked_at = case when ${hasSlots(s, `${queue}.id`)} then 'infinity'::timestamptz end,
    locked_by = case when ${hasSlots(s, `${queue}.id`)} then '${NO_SLOTS}' end`;

// The number of a run's lock: for a queue the queue's id, for a slot the queue's id plus 2^32 times the slot's number.
// Slots are numbered from 1.
const ONE_SLOT = 2 ** 32;

export const queueOf = (lock: number): number => lock % ONE_SLOT;

export function splitLocks(locks: readonly number[]): {
  readonly queues: readonly number[];
  readonly slots: readonly number[];
} {
  const isSlot = (lock: number) => lock >= ONE_SLOT;
  return { queues: locks.filter((lock) => !isSlot(lock)), slots: locks.filter(isSlot) };
}

/** Returns an expression: the number of the lock of this slot. */
export const slotLock = (queueId: string, slot: string): string =>
  `((${slot}::bigint << 32) | ${queueId}::bigint)`;

/** Returns an update, for a common table expression, that unlocks the slots for which `condition` holds. */
export const freeSlots = (s: string, condition: string): string =>
  `update ${s}._private_queue_slots as slots set ${UNLOCK} where ${condition}`;

/** Returns a condition on a row `slots`: its lock is one of `locks`, a bigint[] parameter. */
export const isSlotIn = (locks: string): string =>
  `(slots.queue_id, slots.slot) in (
    select (lock & 4294967295::bigint)::int, (lock >> 32)::int from pg_catalog.unnest(${locks}::bigint[]) as locks (lock))`;
