/** Chooses what a query reads before any row is read: from sealed files, from hot files and from rows in memory (I7). */
import { join } from 'node:path';
import { decodePlan, type PlanSplit, type SourceBatch, splitPlan } from '@platform/query';
import type { ArrivalsAsked } from '../../arrivals/arrived-rows.ts';
import type { SourceExplain } from '../../tabular.ts';
import type { Connections } from '../duckdb/database.ts';
import type { VerifiedReader } from '../files/verify-files.ts';
import type { HotSnapshot } from '../hot/hot-rows.ts';
import { type TailRows, tailRows } from '../hot/tail.ts';
import type { QueryMessage } from '../messages.ts';
import type { Wanted } from '../pushdown/choose-pushdown.ts';
import { keepsBySeries } from '../pushdown/groups/facts-only.ts';
import type { QueryGroups } from '../pushdown/groups/group-cache.ts';
import { type FactsGroup, factsGroup } from '../pushdown/groups/group-facts.ts';
import type { OpenFile } from '../pushdown/open-files.ts';
import type { StepExplain } from '../pushdown/steps.ts';
import type { FirstRows } from './first-rows.ts';
import type { QueryContext } from './run-query.ts';

export interface PreparedQuery {
  readonly split: PlanSplit;
  readonly input: AsyncGenerator<SourceBatch>;
  readonly scannedBytes: number;
  readonly sources: () => readonly SourceExplain[];
  /** Groups that may be kept for later queries once the answer is complete. */
  readonly groups?: QueryGroups;
}

export interface Asked {
  readonly split: PlanSplit;
  /** Undefined: only series and times are pushed down. */
  readonly wanted: Wanted | undefined;
  /** Takes files whose facts are sufficient. */
  readonly facts: FactsGroup | undefined;
  /** Facts of rows in memory may be sufficient. */
  readonly isOfFacts: boolean;
  /** Undefined: the query may need all rows. */
  readonly first: FirstRows | undefined;
}

export async function askedOf({ plan, pushDown }: QueryMessage): Promise<Asked> {
  const split = splitPlan(decodePlan(plan));
  // Loaded late, together with DuckDB.
  const [{ wantedOf }, { firstRowsOf }] = await Promise.all([
    import('../pushdown/choose-pushdown.ts'),
    import('./first-rows.ts'),
  ]);
  const wanted = pushDown ? wantedOf(split) : undefined;
  const facts = wanted && factsGroup(split.end);
  return {
    split,
    wanted,
    facts,
    first: firstRowsOf(split, wantedOf),
    isOfFacts: wanted !== undefined && facts !== undefined && keepsBySeries(wanted),
  };
}

/** The metered bytes are known before a row is read, and do not depend on how the rows are read (meter.ts, first-rows.ts). */
export async function prepareQuery(
  message: QueryMessage,
  { split, wanted, facts: group, isOfFacts, first }: Asked,
  {
    parquetDir,
    knownFacts,
    groupCache,
    topBytes,
  }: Pick<QueryContext, 'parquetDir' | 'knownFacts' | 'groupCache' | 'topBytes'>,
  snapshot: HotSnapshot,
  connections: Connections,
  reader: VerifiedReader,
): Promise<PreparedQuery> {
  const { files, upTo } = message;
  const found = snapshot.tails.map((tail) => tailRows(tail, message)).filter(({ rows }) => rows.length > 0);
  const { addTail } = await import('../pushdown/groups/tail-facts.ts');
  const { firstFiles, tailBytes } = await import('./first-rows.ts');
  const isCounted = (tail: TailRows): boolean =>
    isOfFacts && wanted !== undefined && group !== undefined && addTail(group, tail, wanted, message);
  const tails = found.filter((tail) => !isCounted(tail));
  const hot: StepExplain = {
    does: 'hot',
    pushed: [],
    files: 0,
    statements: 0,
    rows: tails.reduce((sum, { rows }) => sum + rows.length, 0),
  };
  const explainHot = hot.rows > 0 ? [hot] : [];
  const ofTails = (): AsyncGenerator<SourceBatch> =>
    message.arrivals ? arrivalsOf(tails, message.arrivals) : batchesOf(tails, wanted?.columns);
  const tailMetered = (needed: FirstRows | undefined): number => (message.isMetered ? tailBytes(found, needed) : 0);
  if (files.length === 0 && snapshot.slices.length === 0 && group?.isEmpty !== false)
    return { split, scannedBytes: tailMetered(first), input: ofTails(), sources: () => explainHot };
  const [
    { meteredBytes },
    { materializeTop },
    { openFile, openSlice, sealedPaths },
    { stepsOf },
    { knowDistinct },
    { scanSteps },
  ] = await Promise.all([
    import('../pushdown/meter.ts'),
    import('../pushdown/order/materialize-top.ts'),
    import('../pushdown/open-files.ts'),
    import('../pushdown/steps.ts'),
    import('../pushdown/groups/value-counts.ts'),
    import('./scan.ts'),
  ]);
  const connection = await connections.take();
  await reader.footers(files);
  const facts = await knownFacts.of(connection, files, reader.unchanged);
  const sealed = files.map(
    (file, index): OpenFile =>
      openFile(join(parquetDir, file.file), file, facts[index] as (typeof facts)[number], message),
  );
  const hotSlices = snapshot.slices.map(
    ({ slice, to }): OpenFile => openSlice(slice, message, to > upTo ? upTo : undefined),
  );
  const opened = [...sealed, ...hotSlices.filter((slice) => slice.wanted.length > 0)];
  const { files: read, left, ofLast } = first ? firstFiles(opened, first, message) : { files: opened, ofLast: 1 };
  const metered = async (some: readonly OpenFile[]): Promise<number> =>
    message.isMetered ? await meteredBytes(connection, some, message, reader) : 0;
  const isCut = ofLast < 1;
  const scannedBytes =
    (await metered(isCut ? read.slice(0, -1) : read)) +
    (isCut ? Math.ceil(ofLast * (await metered(read.slice(-1)))) : 0) +
    tailMetered(first && left !== undefined ? { ...first, rows: left } : undefined);
  const endsInFiles = left === 0;
  if (wanted !== undefined) await knowDistinct(connection, read, split.end);
  connections.give(connection);
  const groups = wanted && groupCache.forQuery(split, message);
  const chosen = stepsOf(read, { wanted, facts: group, groups, request: message });
  await reader.rows(
    chosen.flatMap((step) => sealedPaths(step.k === 'statement' ? step.statement.files : (step.files ?? []))),
  );
  const steps = await materializeTop({ connections, topBytes }, chosen, split.end);
  return {
    split,
    scannedBytes,
    input: endsInFiles ? inOrder(scanSteps(connections, steps)) : inOrder(scanSteps(connections, steps), ofTails()),
    sources: () => [...steps.map(({ explain }) => explain), ...(endsInFiles ? [] : explainHot)],
    ...(groups && { groups }),
  };
}

async function* batchesOf(
  tails: readonly TailRows[],
  columns: ReadonlySet<string> | undefined,
): AsyncGenerator<SourceBatch> {
  for (const tail of tails) for (const batch of tail.batches(columns)) yield { batch, done: false };
}

async function* arrivalsOf(tails: readonly TailRows[], asked: ArrivalsAsked): AsyncGenerator<SourceBatch> {
  const { tailArrivals } = await import('../arrivals/tail-arrivals.ts');
  for (const batch of tailArrivals(tails, asked)) yield { batch, done: true };
}

async function* inOrder(...inputs: AsyncGenerator<SourceBatch>[]): AsyncGenerator<SourceBatch> {
  try {
    for (const input of inputs) yield* input;
  } finally {
    for (const input of inputs) await input.return(undefined);
  }
}
