import type { Problem } from './problem.ts';
import type { Trigger } from './trigger.ts';

/** Result of reading a `triggers` array: what runs, and every problem with its path. */
export interface ParsedTriggers {
  readonly triggers: readonly Trigger[];
  readonly problems: readonly Problem[];
}

export type ParseTriggers = (triggers: unknown, components: readonly string[]) => ParsedTriggers;
