/** All sources that a plan reads: its own, and those of the plans in its stages. */

import type { Plan } from './stage.ts';

export function sourcesOf(plan: Plan): Plan['source'][] {
  const found = new Set<Plan['source']>([plan.source]);
  for (const stage of plan.stages) {
    if (stage.k !== 'join' && stage.k !== 'lookup' && stage.k !== 'union') continue;
    for (const source of sourcesOf(stage.right)) found.add(source);
  }
  return [...found].filter((source) => source !== 'none');
}
