import type { Change, Step } from '../diff/change.ts';
import { isObject } from '../is-object.ts';
import type { Json } from '../schema.ts';

/** Turns the old document into the new one. @param changes found by `diff` between the two; with any others the result is meaningless. */
export function applyDiff(before: Json, changes: readonly Change[]): Json {
  return applyAt(before, changes, 0);
}

function applyAt(value: Json, changes: readonly Change[], depth: number): Json {
  if (changes.length === 0) return value;
  const whole = changes.find((change) => change.path.length === depth);
  if (whole !== undefined && 'after' in whole) return whole.after;
  const isAdded = (change: Change): boolean => change.kind === 'added' && change.path.length === depth + 1;
  const added = changes.filter(isAdded);
  const within = Map.groupBy(
    changes.filter((change) => !isAdded(change)),
    (change) => change.path[depth] as Step,
  );
  const here = (step: Step, kind: Change['kind']): Change | undefined =>
    within.get(step)?.find((change) => change.kind === kind && change.path.length === depth + 1);
  const inside = (step: Step, child: Json): Json => {
    const moved = here(step, 'moved');
    const some = within.get(step) ?? [];
    return applyAt(child, moved === undefined ? some : some.filter((change) => change !== moved), depth + 1);
  };

  if (isObject(value)) {
    const kept = Object.entries(value).filter(([key]) => here(key, 'removed') === undefined);
    return Object.fromEntries([
      ...kept.map(([key, child]): [string, Json] => [key, inside(key, child)]),
      ...added.map((change): [string, Json] => [String(change.path[depth]), afterOf(change)]),
    ]);
  }
  const placed = new Map(added.map((change) => [change.path[depth] as number, afterOf(change)]));
  const staying: Json[] = [];
  (value as readonly Json[]).forEach((child, index) => {
    if (here(index, 'removed') !== undefined) return;
    const moved = here(index, 'moved');
    if (moved?.kind === 'moved') placed.set(moved.to, inside(index, child));
    else staying.push(inside(index, child));
  });
  const rest = staying.values();
  return Array.from({ length: placed.size + staying.length }, (_, index) =>
    placed.has(index) ? (placed.get(index) as Json) : (rest.next().value as Json),
  );
}

function afterOf(change: Change): Json {
  return 'after' in change ? change.after : null;
}
