/**
 * Partial groups of single files, kept between queries: files never change, and dashboards repeat their queries. Only new data is then
 * grouped.
 *
 * Entries are keyed by the statement, the group stage and the vocabulary, and so by everything that the groups of a file depend on: its
 * conditions contain the series that the caller may see, and the deletions that apply to the file.
 */

import { createHash } from 'node:crypto';
import { getOrInsert } from '@platform/base';
import {
  type Batch,
  Binary,
  BsonDocument,
  type BsonValue,
  DocumentBatch,
  encodePlan,
  type GroupStage,
  mergePartials,
  type PlanSplit,
  QueryError,
  type Stage,
} from '@platform/query';
import type { TabularSettings } from '../../../settings.ts';
import type { ScanRequest } from '../../messages.ts';
import { type Emission, emissionKey } from '../statement.ts';
import { isOfNumbers } from './group-cells.ts';

export interface GroupCache {
  /** The cache for one query; undefined if its groups are not kept. */
  forQuery(split: PlanSplit, request: Pick<ScanRequest, 'vocabulary'>): QueryGroups | undefined;
}

/** The partial groups that one query needs. */
export interface QueryGroups {
  /** The groups of a file, if they are known. */
  of(emission: Emission, path: string): DocumentBatch | undefined;
  /**
   * Whether the file should have its own statement, so that its groups can be kept. Only groups that are requested repeatedly are kept:
   * several statements cost more than one over all files.
   */
  wants(emission: Emission, path: string): boolean;
  /** The groups of several files; there are fewer of them if the same files were requested before. */
  together(files: readonly FileGroups[]): DocumentBatch;
  /** Remembers the groups of a file until `commit`. @param batches the whole result of its statement */
  add(emission: Emission, path: string, rows: number, batches: readonly Batch[]): void;
  /** Keeps the added groups. Called once it is certain that no file changed while it was read. */
  commit(): void;
}

/** The groups of a file, as `of` returned them. */
export interface FileGroups {
  readonly emission: Emission;
  readonly path: string;
  readonly batch: DocumentBatch;
}

interface Entry {
  /** Undefined: the groups are not worth keeping. */
  readonly batch: DocumentBatch | undefined;
  readonly bytes: number;
}

/** Statements for single files in one query; the other files share one. */
const mostAdded = 8;
const mostAsked = 4_096;

type CacheSettings = Pick<TabularSettings, 'groupCacheBytes' | 'rowsPerKeptGroup'>;

/** Evicts the least recently used groups. */
export function createGroupCache({ groupCacheBytes: maxBytes, rowsPerKeptGroup }: CacheSettings): GroupCache {
  const entries = new Map<string, Entry>();
  let bytes = 0;
  /** Earlier queries and their statements: a query whose times advance has the same statements for most files. */
  const asked = new Set<string>();

  const put = (id: string, entry: Entry): void => {
    bytes += entry.bytes - (entries.get(id)?.bytes ?? 0);
    entries.delete(id);
    entries.set(id, entry);
    for (const [oldest, { bytes: freed }] of entries) {
      if (bytes <= maxBytes) break;
      entries.delete(oldest);
      bytes -= freed;
    }
  };

  return {
    forQuery({ pre, end }, { vocabulary }) {
      if (maxBytes === 0 || end === 'rows' || end.k !== 'group') return undefined;
      if (end.accumulators.some(([, accumulator]) => isOfNumbers(accumulator))) return undefined;
      const stage = textOf([end]);
      const query = hashOf([textOf(pre), vocabulary]);
      const keys = new Map<string, string>();
      const keyOf = (emission: Emission): string =>
        getOrInsert(keys, emissionKey(emission), (full) => hashOf([stage, vocabulary, full]));
      const added = new Map<string, Entry>();
      const together: string[] = [];
      let wanted = 0;
      const idOf = (emission: Emission, path: string): string => `${keyOf(emission)} ${path}`;
      const entryFor = (id: string): Entry | undefined => {
        const known = entries.get(id);
        if (known === undefined) return undefined;
        // The newest entries are at the end.
        entries.delete(id);
        entries.set(id, known);
        return known;
      };
      return {
        of: (emission, path) => entryFor(idOf(emission, path))?.batch,
        together(files) {
          const all = joined(files.map(({ batch }) => batch));
          if (files.length < 2) return all;
          const id = hashOf(files.map(({ emission, path }) => idOf(emission, path)));
          const known = entryFor(id);
          if (known !== undefined) return known.batch === undefined ? all : joined([known.batch]);
          together.push(id);
          // Files of fresh rows change often: merging does not pay for files requested only once.
          if (!asked.has(id)) return all;
          const merged = mergedOf(end, all);
          added.set(id, entryFrom(merged));
          return merged === undefined ? all : joined([merged]);
        },
        wants(emission, path) {
          const key = keyOf(emission);
          if (!(asked.has(query) || asked.has(key)) || entries.has(idOf(emission, path)) || wanted === mostAdded)
            return false;
          wanted++;
          return true;
        },
        add: (emission, path, rows, batches) =>
          void added.set(idOf(emission, path), entryOf(rows / rowsPerKeptGroup, batches)),
        commit() {
          for (const [id, entry] of added) put(id, entry);
          for (const key of [query, ...keys.values(), ...together]) asked.add(key);
          for (const oldest of asked) {
            if (asked.size <= mostAsked) break;
            asked.delete(oldest);
          }
        },
      };
    },
  };
}

function textOf(stages: readonly Stage[]): string {
  return Buffer.from(encodePlan({ source: 'none', stages: [...stages] })).toString('latin1');
}

function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}

/** @param most groups that are worth keeping */
function entryOf(most: number, batches: readonly Batch[]): Entry {
  const count = batches.reduce((sum, batch) => sum + batch.count, 0);
  const found = batches.filter((batch) => batch instanceof DocumentBatch);
  return entryFrom(found.length < batches.length || count > most ? undefined : joined(found));
}

function entryFrom(batch: DocumentBatch | undefined): Entry {
  return { batch, bytes: (batch?.documents ?? []).reduce((sum, document) => sum + memoryOf(document), entryBytes) };
}

/** Undefined where merging does not pay. */
function mergedOf(stage: GroupStage, { documents, bytesAbout, count }: DocumentBatch): DocumentBatch | undefined {
  try {
    const merged = mergePartials(stage, documents);
    const listed = bytesAbout - new DocumentBatch(documents).bytesAbout;
    return merged.length > count * mostMerged ? undefined : new DocumentBatch(merged, listed);
  } catch (caught) {
    if (caught instanceof QueryError) return undefined;
    throw caught;
  }
}

/** Merging pays if at most this share of the groups remains. */
const mostMerged = 0.9;

/** Estimated sizes in memory: of an entry, of a document or list, and of a value in one. */
const [entryBytes, containerBytes, valueBytes] = [256, 128, 64];

/** The memory of a group or a part of it, without the value's own slot in its container. */
function memoryOf(value: BsonValue): number {
  if (value instanceof BsonDocument) return withValues(value.values());
  if (Array.isArray(value)) return withValues(value);
  return value instanceof Binary ? containerBytes + value.bytes.length : 0;
}

function withValues(values: Iterable<BsonValue>): number {
  let bytes = containerBytes;
  for (const value of values) bytes += valueBytes + memoryOf(value);
  return bytes;
}

/** A new batch with the groups of several: the encoded bytes of a batch are moved to the thread that receives them. */
function joined(batches: readonly DocumentBatch[]): DocumentBatch {
  const documents = batches.flatMap((batch) => batch.documents);
  const bytesAbout = batches.reduce((sum, batch) => sum + batch.bytesAbout, 0);
  return new DocumentBatch(documents, bytesAbout - new DocumentBatch(documents).bytesAbout);
}
