/**
 * Makes equal resources of two configurations the same objects. Most edits change one resource of many: later code recognises the others as
 * unchanged at once, and does not compare, convert or search them again. Pure, except for `after`.
 */
import type { Steps } from '@platform/base';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';

/** Replaces each component and service of `after` by the one of the same name in `before` if they are equal. */
export function* shareEqual(before: RobotConfig, after: RobotConfig): Steps<void> {
  yield* shareIn(before.components, after.components);
  yield* shareIn(before.services, after.services);
}

interface Named {
  readonly name: string;
  readonly api: string;
}

function* shareIn<T extends Named>(before: readonly T[], after: T[]): Steps<void> {
  let byName: Map<string, T> | undefined;
  for (let at = 0; at < after.length; at++) {
    const fresh = after[at] as T;
    let known = before[at];
    if (known?.name !== fresh.name || known.api !== fresh.api) {
      byName ??= new Map(before.map((each) => [`${each.api}/${each.name}`, each]));
      known = byName.get(`${fresh.api}/${fresh.name}`);
    }
    if (known !== undefined && known !== fresh && isSame(known, fresh)) after[at] = known;
    yield;
  }
}
/** Whether two values of messages are the same, unknown fields included. Allocates nothing. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a)) {
    const other = b as readonly unknown[];
    if (a.length !== other.length) return false;
    for (let at = 0; at < a.length; at++) if (!isSame(a[at], other[at])) return false;
    return true;
  }
  if (a instanceof Uint8Array || b instanceof Uint8Array)
    return a instanceof Uint8Array && b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  // Messages inherit the defaults of their absent fields.
  const [first, second] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>];
  for (const key in first) if (!(key in second && isSame(first[key], second[key]))) return false;
  for (const key in second) if (!(key in first)) return false;
  return true;
}
