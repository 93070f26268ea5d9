/** Names in stored readings: components, methods and fields. Pure. */
import type { Word } from '../editor/complete-words.ts';
import { flatten } from './flatten.ts';
import type { Row } from './pipeline.ts';

/** @param rows one for each component and method, with its newest data */
export function wordsOf(rows: readonly Row[]): readonly Word[] {
  const words = new Map<string, string>();
  for (const { _id, data } of rows) {
    const { name = '', method = '' } = (_id ?? {}) as Record<string, string>;
    if (name) words.set(name, 'component');
    if (method) words.set(method, 'method');
    for (const path of Object.keys(flatten((data ?? {}) as Row))) {
      const full = `data.${path}`;
      const of = words.get(full);
      words.set(full, of === undefined ? `field of ${name}` : of.includes(name) ? of : 'field of several components');
    }
  }
  return [...words].map(([label, detail]) => ({ label, detail }));
}
