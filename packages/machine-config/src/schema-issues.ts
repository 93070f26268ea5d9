import type { z } from 'zod';

export type Path = readonly (string | number)[];

const words: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** What the schema expected, in words; our own formats and unions provide the text themselves. */
export function expectedBy(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return words[issue.expected] ?? issue.expected;
    case 'too_small':
      return issue.origin === 'string' ? 'a non-empty string' : `at least ${issue.minimum}`;
    case 'invalid_union':
      return isOfJson(issue) ? 'a finite number' : issue.message;
    default:
      return issue.message;
  }
}

/** The value at a path of a document; undefined if there is none. */
export function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const step of path) at = (at as Record<string | number, unknown> | null | undefined)?.[step];
  return at;
}

/**
 * The position of the fault. For free-form JSON the schema reports only the whole value, although the only possible faults in JSON text are
 * infinite numbers.
 */
export function issuePath(issue: z.core.$ZodIssue, document: unknown): Path {
  const at = issue.path as (string | number)[];
  return isOfJson(issue) ? [...at, ...(infinityIn(valueAt(document, at)) ?? [])] : at;
}

const isOfJson = ({ code, message }: z.core.$ZodIssue): boolean =>
  code === 'invalid_union' && message === 'Invalid input';

function infinityIn(value: unknown): Path | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : [];
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const within = infinityIn(item);
    if (within !== undefined) return [Array.isArray(value) ? Number(key) : key, ...within];
  }
  return undefined;
}
