import type { Problem } from '@platform/base';
import type { z } from 'zod';
import { formatValue } from '../format-value.ts';
import { pathText } from '../read-json.ts';
import { expectedBy, issuePath, type Path, valueAt } from '../schema-issues.ts';
import { unknownKey } from '../unknown-key.ts';

/** Checks `value`. Unknown or invalid parts at any depth are reported and removed, until the rest is valid. */
export function validateDocument(schema: z.ZodType, value: unknown, problems: Problem[]): unknown {
  let rest: unknown = structuredClone(value);
  for (let round = 0; round < 1_000; round++) {
    const result = schema.safeParse(rest);
    if (result.success) return result.data;
    const keys: Path[] = [];
    const entries = new Map<string, Path>();
    for (const issue of result.error.issues) {
      const at = issuePath(issue, rest);
      // The trigger feature checks the contents of triggers; here they only must not affect the rest.
      const named = at[0] !== 'triggers' || at.length < 2;
      if (issue.code === 'unrecognized_keys') {
        for (const key of issue.keys) {
          if (named) problems.push(unknownKey(pathText([...at, key]), key, issue.message.split(', ')));
          keys.push([...at, key]);
        }
      } else {
        const message = `expected ${expectedBy(issue)}, found ${formatValue(valueAt(rest, at))}`;
        if (named) problems.push({ path: pathText(at), level: 'error', message });
        const entry = at.findLastIndex((step) => typeof step === 'number');
        const gone = entry === -1 ? at.slice(0, 1) : at.slice(0, entry + 1);
        entries.set(pathText(gone), gone);
      }
    }
    // Keys first, then each entry once, from the last to the first, so that reported positions stay correct.
    const changed = [...keys, ...[...entries.values()].toReversed()].map((at) => takeOut(rest, at)).includes(true);
    if (!changed) rest = {};
  }
  return schema.parse({});
}

/** Removes the key or list entry at `path`. */
function takeOut(from: unknown, path: Path): boolean {
  const last = path.at(-1);
  let holder = from as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) {
    holder = holder?.[step] as Record<string | number, unknown>;
    if (typeof holder !== 'object' || holder === null) return false;
  }
  if (last === undefined || typeof holder !== 'object' || holder === null || !(last in holder)) return false;
  if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else delete holder[last];
  return true;
}
