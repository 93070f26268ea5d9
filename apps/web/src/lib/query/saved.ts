/** Saved queries: their content, and how those of the organization are stored in its metadata, under `queries`. Pure. */
import type { JsonObject } from '@bufbuild/protobuf';
import { objectOf } from '../api/object-of.ts';
import { rangeOfStored, storedRange, type TimeRange } from '../range/time-range.ts';
import type { QueryLanguage } from './run-query.ts';

export interface SavedQuery {
  readonly name: string;
  readonly language: QueryLanguage;
  /** As it was typed. */
  readonly text: string;
  readonly range: TimeRange;
}

export const metadataKey = 'queries';

/** By name. Leaves out invalid queries: others may also write metadata. */
export function savedOf(metadata: JsonObject): readonly SavedQuery[] {
  return Object.entries(objectOf(metadata[metadataKey]))
    .flatMap(([name, value]) => {
      const stored = objectOf(value);
      const { language, text } = stored;
      if (typeof text !== 'string') return [];
      const range = rangeOfStored(stored);
      return [{ name, language: language === 'sql' ? ('sql' as const) : ('mql' as const), text, range }];
    })
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

/** The metadata with a query saved under its name, or (undefined) removed; everything else stays. */
export function withSaved(metadata: JsonObject, name: string, query: SavedQuery | undefined): JsonObject {
  const { [name]: _, ...others } = objectOf(metadata[metadataKey]);
  if (query === undefined) return { ...metadata, [metadataKey]: others };
  const { language, text, range } = query;
  return { ...metadata, [metadataKey]: { ...others, [name]: { language, text, ...storedRange(range) } } };
}
