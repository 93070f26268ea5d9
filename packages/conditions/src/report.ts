import type { Problem } from '@platform/base';
import { describe, type JsonObject } from './json.ts';

/** Paths are relative to the `conditional` object, such as `conditions.evals[0].operator`. */
export type Report = (path: string, message: string, level?: Problem['level']) => void;

export function warnUnknown(json: JsonObject, known: readonly string[], path: string, report: Report): void {
  for (const key of Object.keys(json)) {
    if (!known.includes(key))
      report(
        `${path}${key}`,
        `expected one of ${known.join(', ')}, found ${describe(key)}: this key has no effect`,
        'warning',
      );
  }
}
