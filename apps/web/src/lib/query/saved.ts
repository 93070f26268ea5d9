/** Saved queries: their content, and how those of the organization are stored in its metadata, under `queries`. Pure. */
import type { JsonObject } from '@bufbuild/protobuf';
import { objectOf } from '../api/object-of.ts';
import type { QueryLanguage } from './run-query.ts';

export interface SavedQuery {
  readonly name: string;
  readonly language: QueryLanguage;
  /** As it was typed. */
  readonly text: string;
  /** Time range in ms; 0: all time. */
  readonly rangeMs: number;
}

export const metadataKey = 'queries';

/** By name. Leaves out invalid queries: others may also write metadata. */
export function savedOf(metadata: JsonObject): readonly SavedQuery[] {
  return Object.entries(objectOf(metadata[metadataKey]))
    .flatMap(([name, value]) => {
      const { language, text, rangeMs } = objectOf(value);
      if (typeof text !== 'string') return [];
      const range = typeof rangeMs === 'number' ? rangeMs : 3_600_000;
      return [{ name, language: language === 'sql' ? ('sql' as const) : ('mql' as const), text, rangeMs: range }];
    })
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

/** The metadata with a query saved under its name, or (undefined) removed; everything else stays. */
export function withSaved(metadata: JsonObject, name: string, query: SavedQuery | undefined): JsonObject {
  const { [name]: _, ...others } = objectOf(metadata[metadataKey]);
  if (query === undefined) return { ...metadata, [metadataKey]: others };
  const { language, text, rangeMs } = query;
  return { ...metadata, [metadataKey]: { ...others, [name]: { language, text, rangeMs } } };
}
