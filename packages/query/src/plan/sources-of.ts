/** All sources that a plan reads: its own, and those of the plans in its stages. */

import type { Plan, Stage } from './stage.ts';

export function sourcesOf(plan: Plan): Plan['source'][] {
  const found = new Set<Plan['source']>([plan.source]);
  for (const right of plansIn(plan.stages)) for (const source of sourcesOf(right)) found.add(source);
  return [...found].filter((source) => source !== 'none');
}

/** Whether no plan in its stages reads stored rows, of this source or of others. */
export function isReadOnce(plan: Plan): boolean {
  return plan.source !== 'none' && plansIn(plan.stages).every((right) => sourcesOf(right).length === 0);
}

export function plansIn(stages: readonly Stage[]): readonly Plan[] {
  return stages.flatMap((stage) =>
    stage.k === 'join' || stage.k === 'lookup' || stage.k === 'union' ? [stage.right] : [],
  );
}
