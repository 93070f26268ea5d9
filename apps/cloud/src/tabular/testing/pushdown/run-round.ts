/** One world and many queries on it. */
import { type Batch, batchOf, documentsOf, QueryError, type Scope } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import type { Tabular } from '../../tabular.ts';
import { openTabular } from '../open-tabular.ts';
import { checkQuery, type Subject } from './check-query.ts';
import { pushesBeyondTime } from './explained.ts';
import { createRandom, type Random } from './random.ts';
import { planOf, type RandomQuery, randomQuery } from './random-query.ts';
import { fillWorld, largeWorld, machines, smallWorld } from './random-world.ts';
import { showQuery } from './show.ts';

export interface Round {
  readonly seed: number;
  readonly number: number;
  readonly cases: number;
  /** Runs only the case with this number. */
  readonly only?: number | undefined;
}

export interface RoundResult {
  readonly asked: number;
  /** Queries rejected by the parser; each was replaced by another. */
  readonly refused: number;
  /** Queries that could be pushed down, over rows in sealed files. */
  readonly pushable: number;
  /** Pushable queries of which a stage beyond scope and time was pushed. */
  readonly pushed: number;
  /** Descriptions of pushable queries that were not pushed. */
  readonly unpushed: readonly string[];
  readonly problems: readonly string[];
}

const lanes = 4;
/** One in this many rounds uses a large world, with few queries. */
const largeEvery = 40;
const largeCases = 30;

export async function runRound({ seed, number, cases, only }: Round): Promise<RoundResult> {
  // In every other round the fresh rows are in columns too.
  await using store = await openTabular({
    ...(number % 2 === 1 && { tailRows: 0, mergeFiles: 1_000 }),
    // In two of four rounds the first rows of an order are found without their documents, however small these are.
    ...(number % 4 < 2 && { topBytes: 0 }),
    // Groups of small files are kept, too.
    rowsPerKeptGroup: 0,
  });
  const isLarge = number % largeEvery === largeEvery - 1;
  await fillWorld(createRandom(seedOf(seed, number, -1)), store, isLarge ? largeWorld : smallWorld);
  const subjects = await Promise.all(scopes.map((scope) => subjectOf(store.tabular, scope, isLarge)));
  const result = { asked: 0, refused: 0, pushable: 0, pushed: 0, unpushed: [] as string[], problems: [] as string[] };
  let next = only ?? 0;
  const end = only === undefined ? Math.min(cases, isLarge ? largeCases : cases) : only + 1;
  const lane = async (): Promise<void> => {
    while (next < end) {
      const at = next++;
      const random = createRandom(seedOf(seed, number, at));
      const query = acceptedQuery(random, () => result.refused++);
      const subject = random.chance(0.6) ? subjects[0]! : random.pick(subjects);
      result.asked++;
      const { problem, explain } = await checkQuery(query, subject);
      if (problem !== undefined) {
        const least = await shrunk(query, subject);
        const lines = [
          `seed ${seed}, round ${number}, case ${at}, scope ${JSON.stringify(subject.scope)}`,
          showQuery(query),
        ];
        if (least !== query) lines.push(`shrunk to ${showQuery(least)}`);
        result.problems.push([...lines, (await checkQuery(least, subject)).problem ?? problem].join('\n'));
      }
      const isPushed = query.pushable && explain !== undefined ? pushesBeyondTime(planOf(query), explain) : undefined;
      if (isPushed === undefined) continue;
      result.pushable++;
      if (isPushed) result.pushed++;
      else result.unpushed.push(`${showQuery(query)}\n    ${JSON.stringify(explain?.sources)}`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return result;
}

function acceptedQuery(random: Random, onRefusal: () => void): RandomQuery {
  for (;;) {
    const query = randomQuery(random);
    try {
      planOf(query);
      return query;
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      onRefusal();
    }
  }
}

/** Removes the stages that are not needed to reproduce the problem. */
async function shrunk(query: RandomQuery, subject: Subject): Promise<RandomQuery> {
  if (query.language === 'sql') return query;
  for (let at = 0; at < query.pipeline.length; at++) {
    const fewer = { ...query, pipeline: query.pipeline.toSpliced(at, 1) };
    const checked = await checkQuery(fewer, subject).catch(() => undefined);
    if (checked?.problem !== undefined) return shrunk(fewer, subject);
  }
  return query;
}

const scopes: readonly Scope[] = [
  { organizationId: 'org-1', locationIds: null, robotIds: null },
  { organizationId: 'org-1', locationIds: ['loc-1'], robotIds: [] },
  { organizationId: 'org-1', locationIds: [], robotIds: ['robot-2'] },
  { organizationId: 'org-1', locationIds: ['loc-2'], robotIds: ['robot-1'] },
  { organizationId: 'org-1', locationIds: [], robotIds: [] },
  { organizationId: 'org-2', locationIds: null, robotIds: null },
];

/** The rows of the scope, selected here from all rows of the organization. */
async function subjectOf(tabular: Tabular, scope: Scope, isLarge: boolean): Promise<Subject> {
  const { organizationId, locationIds, robotIds } = scope;
  const isSeen = (location: unknown, robot: unknown): boolean =>
    (locationIds === null && robotIds === null) ||
    (locationIds ?? []).some((each) => each === location) ||
    (robotIds ?? []).some((each) => each === robot);
  const hidden = machines
    .filter((each) => each.organizationId !== organizationId || !isSeen(each.locationId, each.robotId))
    .map(({ canary }) => canary);
  if (isLarge) return { tabular, scope, rows: undefined, hidden };
  const all = await tabular.query({
    plan: parseMql([]),
    scope: { organizationId, locationIds: null, robotIds: null },
    vocabulary: 'core',
  });
  const rows: Batch = batchOf(
    [...documentsOf(all)].filter((row) => isSeen(row.get('location_id'), row.get('robot_id'))),
  );
  // Rows of every organization contain their texts; without them the check would find nothing.
  if (!Buffer.from(all.bytes).includes('canary of ')) throw new Error('expected canaries in the rows, found none');
  return { tabular, scope, rows, hidden };
}

function seedOf(seed: number, round: number, at: number): number {
  return Math.imul(Math.imul(seed + 1, 0x9e3779b1) ^ (round + 1), 0x85ebca6b) ^ Math.imul(at + 2, 0xc2b2ae35);
}
