import type { Answer } from './controls.ts';

/** A number of an answer; absent ones are 0. */
export function numberOf(answer: Answer | undefined, field: string): number {
  return Number(answer?.[field] ?? 0);
}
