/**
 * Runs cases through the real store and DuckDB: each set of documents becomes an organization's readings, some in a sealed file, the rest
 * in hot rows, and each query runs with push-down. The answer must equal that of the executor alone over the same documents.
 *
 * Documents that machines could not send (int32, dates, …) are converted. Then the case's own expectation does not apply, and only the two
 * answers are compared.
 */
import {
  BsonDate,
  BsonDocument,
  type BsonValue,
  batchOf,
  Decimal128,
  decimalToNumber,
  Int32,
  type Plan,
  QueryError,
  sourcesOf,
} from '@platform/query';
import { parseMql } from '@platform/query/mql';
import { parseSql } from '@platform/query/sql';
import { encodeStruct, fitsStruct } from '../../../../apps/cloud/src/tabular/testing/encode-struct.ts';
import { type OpenTabular, openTabular } from '../../../../apps/cloud/src/tabular/testing/open-tabular.ts';
import { areSame, askExecutor, askStore, showAnswer } from '../../../../apps/cloud/src/tabular/testing/pushdown/ask.ts';
import { isLimited, orderOf } from '../../../../apps/cloud/src/tabular/testing/pushdown/comparable.ts';
import type { Case } from '../case.ts';
import { encodeExtended } from '../extended-json/encode.ts';
import { documentsJson } from '../outcome.ts';
import { formOf, tablesOf } from '../run-sql.ts';
import { nestUnderData } from './nest-under-data.ts';

export interface StoredCases {
  /** Cases run with the documents as given. */
  readonly asTheyAre: number;
  /** Cases run with documents converted to types that machines send. */
  readonly asReadings: number;
  readonly notRun: ReadonlyMap<string, number>;
  /** Names of cases with a different answer from the store, with both answers. */
  readonly different: readonly string[];
}

interface StoredCase {
  readonly given: Case;
  readonly plan: Plan;
  readonly documents: readonly BsonDocument[];
  readonly organizationId: string;
}

const lanes = 4;
/** Noon, so that all documents of a case have the same capture day, in their order. */
const receivedMs = Date.UTC(2026, 4, 17, 12);

export async function runStoredCases(cases: readonly Case[]): Promise<StoredCases> {
  const notRun = new Map<string, number>();
  const sets = new Map<string, readonly BsonDocument[]>();
  let asTheyAre = 0;
  const stored: StoredCase[] = [];
  for (const given of cases) {
    const question = questionOf(given);
    if (typeof question === 'string') {
      notRun.set(question, (notRun.get(question) ?? 0) + 1);
      continue;
    }
    const documents = question.documents.map(asReading);
    if (question.documents.every(fitsStruct)) asTheyAre++;
    const key = documentsJson(documents);
    sets.set(key, documents);
    stored.push({ given, plan: question.plan, documents, organizationId: key });
  }
  await using store = await openTabular();
  const organizations = await storeSets(store, sets);
  const different: string[] = [];
  const waiting = stored.values();
  const lane = async (): Promise<void> => {
    for (const each of waiting) {
      const difference = await compare(store, { ...each, organizationId: organizations.get(each.organizationId)! });
      if (difference !== undefined) different.push(difference);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  if (store.damaged.size > 0) throw new Error(`the store could not load ${store.damaged.size} of the uploads`);
  return { asTheyAre, asReadings: stored.length - asTheyAre, notRun, different };
}

/** The plan and its documents, or why there is nothing to compare. */
function questionOf(given: Case): { plan: Plan; documents: readonly BsonDocument[] } | string {
  try {
    if (given.k === 'mql') {
      const plan = parseMql(given.pipeline);
      if (given.docs.length === 0) return 'no documents';
      return isByChance(plan) ? 'an answer by chance' : { plan, documents: given.docs };
    }
    if (given.expected.k === 'rewrite') return 'no data';
    const plan = parseSql(given.sql, tablesOf(given), formOf(given));
    const [name, ...others] = sourcesOf(plan).filter((each) => each !== 'none');
    if (others.length > 0) return 'several collections';
    const documents = [...given.databases].flatMap(([database, collections]) =>
      [...collections].flatMap(([each, held]) => (`${database}.${each}` === name ? held : [])),
    );
    return documents.length === 0 ? 'no documents' : { plan, documents };
  } catch (error) {
    if (error instanceof QueryError) return 'refused before any data is read';
    throw error;
  }
}

function isByChance(plan: Plan): boolean {
  return plan.stages.some(({ k }) => k === 'sample') || /"fn":"agg\.rand"|"NOW"/.test(JSON.stringify(plan, plainly));
}

function plainly(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/** @returns the organization of each set, by the set's key. */
async function storeSets(
  store: OpenTabular,
  sets: ReadonlyMap<string, readonly BsonDocument[]>,
): Promise<ReadonlyMap<string, string>> {
  const organizations = new Map([...sets.keys()].map((key, number) => [key, `set ${number}`]));
  const append = (organizationId: string, documents: readonly BsonDocument[]): void => {
    if (documents.length === 0) return;
    const place = { organizationId, locationId: 'location', robotId: 'robot', partId: 'part' };
    store.append({
      place,
      readings: documents.map((each) => ({ data: encodeStruct(each), receivedMs })),
      syncedMs: receivedMs,
    });
  };
  const sealedOf = (documents: readonly BsonDocument[]): number => Math.ceil((documents.length * 2) / 3);
  for (const [key, documents] of sets) append(organizations.get(key)!, documents.slice(0, sealedOf(documents)));
  await store.tabular.seal();
  for (const [key, documents] of sets) append(organizations.get(key)!, documents.slice(sealedOf(documents)));
  return organizations;
}

async function compare(
  store: OpenTabular,
  { given, plan, documents, organizationId }: StoredCase,
): Promise<string | undefined> {
  const scope = { organizationId, locationIds: null, robotIds: null };
  const moved = nestUnderData(plan);
  const pushed = await askStore(store.tabular, moved, scope, true);
  const unpushed = await askStore(store.tabular, moved, scope, false);
  const differs = (other: typeof pushed, name: string): string =>
    `${given.name}\n  pushed   ${showAnswer(pushed)}\n  ${name} ${showAnswer(other)}`;
  if (isLimited(plan) && (pushed.k === 'refused' || unpushed.k === 'refused')) return undefined;
  if (!areSame(pushed, unpushed, 'in order')) return differs(unpushed, 'unpushed');
  const order = orderOf(plan);
  if (order === undefined) return undefined;
  const alone = await askExecutor(plan, batchOf(documents));
  if (isLimited(plan) && alone.k === 'refused') return undefined;
  // Positions in errors are one name deeper in the store.
  if (alone.k === 'refused' && pushed.k === 'refused' && alone.code === pushed.code) return undefined;
  return areSame(pushed, alone, order) ? undefined : differs(alone, 'executor');
}

/**
 * Converts documents to what machines can send: every value has a type of google.protobuf.Struct. Numbers of any type become doubles, any
 * other value its Extended JSON as text; names and nesting stay.
 */
function asReading(document: BsonDocument): BsonDocument {
  return new BsonDocument([...document].map(([name, value]): [string, BsonValue] => [name, plainer(value)]));
}

function plainer(value: BsonValue): BsonValue {
  if (value instanceof BsonDocument) return asReading(value);
  if (Array.isArray(value)) return value.map(plainer);
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number')
    return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Int32) return value.value;
  if (value instanceof Decimal128) return decimalToNumber(value);
  if (value instanceof BsonDate) return value.ms;
  return encodeExtended(BsonDocument.of({ value }));
}
