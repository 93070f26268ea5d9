/**
 * Makes equal resources of two configurations the same objects. Most edits change one resource of many: later code recognises the others as
 * unchanged at once, and does not compare, convert or search them again. Pure, except for `after`.
 */
import { isSame, type Steps } from '@platform/base';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import type { ResourceName } from '@platform/resources';

/** Replaces each component and service of `after` by the one of the same name in `before` if they are equal. */
export function* shareEqual(before: RobotConfig, after: RobotConfig): Steps<void> {
  yield* shareIn(before.components, after.components);
  yield* shareIn(before.services, after.services);
}

function* shareIn<T extends ResourceName>(before: readonly T[], after: T[]): Steps<void> {
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
