import type { JsonObject } from '@bufbuild/protobuf';
import {
  type Batch,
  BsonDate,
  BsonDocument,
  type BsonValue,
  Decimal128,
  documentsOf,
  encodeBson,
  Int32,
  type Scope,
} from '@platform/query';
import { parseMql } from '@platform/query/mql';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCatalog } from '../catalog/catalog.ts';
import { type OpenTabular, openTabular, testPlace, wholeOrganization } from '../testing/open-tabular.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);

const scalar = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -40, max: 40 }).map((whole) => whole / 8) },
  { weight: 2, arbitrary: fc.double({ noNaN: true, min: -1e6, max: 1e6 }) },
  fc.constantFrom(0, -0, 1e300, Number.POSITIVE_INFINITY, Number.NaN, 2 ** 53),
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'ä', '\u{1f600}', '\uffff', '', 'longer than twelve bytes') },
  { weight: 2, arbitrary: fc.boolean() },
  fc.constant(null),
);
const rare = fc.oneof(scalar, fc.constantFrom({ deep: 1 }, {}, [1, 'a'], [], [{ deep: 2 }]));

/** By the class of a file: only doubles, mixed scalars, or any value. */
const leafOf = [fc.integer({ min: 0, max: 20 }), scalar, rare];

function readingsOf(kind: number): fc.Arbitrary<{ data: JsonObject; receivedMs: number | null }> {
  const leaf = leafOf[kind] as fc.Arbitrary<unknown>;
  const optional = kind === 0 ? ['other'] : ['n', 's', 'm', 'deep', 'other'];
  return fc.record({
    receivedMs: fc.oneof(
      { weight: 9, arbitrary: fc.integer({ min: 0, max: 7_200 }).map((second) => noonMs + second * 1_000 + 0.5) },
      fc.constant(kind === 2 ? null : noonMs),
    ),
    data: fc.record(
      {
        n: leaf,
        s: kind === 0 ? fc.constantFrom('on', 'off') : leaf,
        m: kind < 2 ? fc.integer({ min: 1, max: 9 }) : leaf,
        deep: fc.record({ x: leaf, y: fc.integer({ min: 0, max: 3 }) }, { requiredKeys: kind === 0 ? ['x', 'y'] : [] }),
        other: fc.constantFrom('z', 'y'),
      },
      { requiredKeys: ['n', 's', 'm', 'deep', 'other'].filter((name) => !optional.includes(name)) as never[] },
    ) as fc.Arbitrary<JsonObject>,
  });
}

const seed = 20_261_121;

/** Files of different classes, several on one day, with deletions and later hot rows. */
async function fill(store: OpenTabular): Promise<void> {
  for (const [file, kind] of [0, 0, 1, 1, 2, 0, 2].entries()) {
    const uploads = fc.sample(
      fc.record({
        part: fc.constantFrom('part-1', 'part-2'),
        robot: fc.constantFrom('robot-1', 'robot-2'),
        component: fc.constantFrom('cpu', 'arm', 'é'),
        readings: fc.array(readingsOf(kind), { minLength: 1, maxLength: 12 }),
      }),
      { numRuns: 8, seed: seed + file },
    );
    for (const { part, robot, component, readings } of uploads)
      store.append({
        place: { ...testPlace, partId: part, robotId: robot },
        metadata: { componentName: component, tags: component === 'arm' ? ['t'] : [] },
        readings: readings.map((each) => ({ ...each, requestedMs: each.receivedMs })),
        syncedMs: noonMs + (file % 2) * 86_400_000,
      });
    if (file < 6) await store.tabular.seal();
  }
  await store.count();
}

const path = fc.constantFrom(
  'data.n',
  'data.s',
  'data.m',
  'data.deep.x',
  'data.deep.y',
  'data.deep',
  'data.none',
  'data.n.x',
);
const place = fc.constantFrom('part_id', 'component_name', 'component_type', 'capture_day', 'tags');
const time = fc.constantFrom('time_received', 'time_requested', 'time_synced');
const field = fc.oneof({ weight: 5, arbitrary: path }, { weight: 2, arbitrary: place }, time);
const literal: fc.Arbitrary<BsonValue> = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -4, max: 21 }).map((whole) => new Int32(whole)) },
  { weight: 2, arbitrary: fc.constantFrom(0, -0, 1.5, 5n, 2n ** 60n, -1n, Number.NaN, Number.POSITIVE_INFINITY) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('on', 'a', 'ä', 'cpu', 'part-1', '2026-05-17', 'core:component:sensor', '\uffff'),
  },
  fc.constantFrom(true, false, null),
  fc.integer({ min: -10, max: 7_300 }).map((second) => new BsonDate(noonMs + second * 1_000)),
  fc.constantFrom(
    new Decimal128(Uint8Array.of(15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3e, 0x30)),
    BsonDocument.of({ deep: 1 }),
    [1, 'a'] as BsonValue[],
  ),
);

type Spec = BsonValue;
const d = (fields: Record<string, Spec>): BsonDocument => BsonDocument.of(fields);
const comparing = fc.constantFrom('$eq', '$ne', '$gt', '$gte', '$lt', '$lte');

const condition: fc.Arbitrary<BsonDocument> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(field, comparing, literal).map(([f, op, v]) => d({ [f]: d({ [op]: v }) })) },
  {
    weight: 3,
    arbitrary: fc.tuple(field, comparing, literal).map(([f, op, v]) => d({ $expr: d({ [op]: [`$${f}`, v] }) })),
  },
  fc
    .tuple(field, fc.array(literal, { maxLength: 3 }), fc.constantFrom('$in', '$nin'))
    .map(([f, vs, op]) => d({ [f]: d({ [op]: vs }) })),
  fc.tuple(field, fc.boolean()).map(([f, yes]) => d({ [f]: d({ $exists: yes }) })),
  fc
    .tuple(field, fc.constantFrom('double', 'string', 'null', 'object', 'array', 'date', 'number'))
    .map(([f, t]) => d({ [f]: d({ $type: t }) })),
  fc.tuple(field, fc.constantFrom('o', '^a', 'x')).map(([f, r]) => d({ [f]: d({ $regex: r }) })),
  fc.tuple(field, fc.constantFrom(2, 3)).map(([f, m]) => d({ [f]: d({ $mod: [m, 1] }) })),
  fc.tuple(field, field, comparing).map(([a, b, op]) => d({ $expr: d({ [op]: [`$${a}`, `$${b}`] }) })),
  field.map((f) => d({ $expr: `$${f}` })),
  field.map((f) => d({ [f]: d({ $elemMatch: d({ $gt: 0 }) }) })),
  field.map((f) => d({ $expr: d({ $gt: [d({ $toInt: `$${f}` }), 3] }) })),
);
const logical: fc.Arbitrary<BsonDocument> = fc.oneof(
  { weight: 4, arbitrary: condition },
  fc
    .tuple(fc.constantFrom('$and', '$or', '$nor'), fc.array(condition, { minLength: 1, maxLength: 3 }))
    .map(([op, terms]) => d({ [op]: terms })),
  fc.tuple(path, comparing, literal).map(([f, op, v]) => d({ [f]: d({ $not: d({ [op]: v }) }) })),
);

const decided = (value: fc.Arbitrary<BsonValue>): fc.Arbitrary<BsonValue> =>
  fc
    .tuple(fc.oneof(field, path), fc.constantFrom('$eq', '$gt', '$lte', '$ne', '$not', ''), literal, value, value)
    .map(([f, op, other, one, two]) => {
      const when = op === '' ? `$${f}` : d({ [op]: op === '$not' ? [`$${f}`] : [`$${f}`, other] });
      return d({ $cond: [when, one, two] });
    });
const key: fc.Arbitrary<BsonValue> = fc.oneof(
  fc.constant(null),
  {
    weight: 2,
    arbitrary: decided(
      fc.oneof(
        fc.constantFrom<BsonValue>('x', 1, -0, new Int32(1), 1n, null),
        field.map((f) => `$${f}`),
      ),
    ),
  },
  fc.constant(d({ $toInt: '$component_name' })),
  { weight: 3, arbitrary: field.map((f) => `$${f}`) },
  { weight: 2, arbitrary: fc.tuple(field, field).map(([a, b]) => d({ a: `$${a}`, b: `$${b}` })) },
  fc
    .tuple(fc.constantFrom('day', 'hour', 'minute', 'week', 'month'), fc.constantFrom(1, 2, 15))
    .map(([unit, binSize]) => d({ $dateTrunc: d({ date: '$time_received', unit, binSize }) })),
  fc.constantFrom('$hour', '$dayOfWeek', '$minute', '$year').map((part) => d({ p: d({ [part]: '$time_received' }) })),
  fc.constant(d({ $dateToString: d({ date: '$time_received', format: '%H:%M' }) })),
  fc.constant(d({ $eq: ['$component_name', 'cpu'] })),
);
const accumulator: fc.Arbitrary<BsonDocument> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom('$sum', '$sum', '$avg', '$max'),
        decided(
          fc.oneof(
            fc.constantFrom<BsonValue>(new Int32(1), new Int32(0), 0.1, 3n, null),
            field.map((f) => `$${f}`),
          ),
        ),
      )
      .map(([fn, value]) => d({ [fn]: value })),
  },
  {
    weight: 6,
    arbitrary: fc.tuple(fc.constantFrom('$sum', '$avg', '$min', '$max'), field).map(([fn, f]) => d({ [fn]: `$${f}` })),
  },
  fc.constantFrom(
    d({ $sum: new Int32(1) }),
    d({ $sum: 0.1 }),
    d({ $sum: 3n }),
    d({ $count: d({}) }),
    d({ $avg: 1.5 }),
    d({ $min: 'x' }),
  ),
  {
    weight: 3,
    arbitrary: fc.oneof(
      field.map((f) => d({ $addToSet: `$${f}` })),
      field.map((f) => d({ $median: d({ input: `$${f}`, method: 'approximate' }) })),
      path.map((f) => d({ $percentile: d({ input: `$${f}`, p: [0, 0.4, 1], method: 'approximate' }) })),
      fc
        .tuple(fc.constantFrom('$minN', '$maxN', '$firstN', '$lastN'), field)
        .map(([fn, f]) => d({ [fn]: d({ n: new Int32(2), input: `$${f}` }) })),
      fc
        .tuple(fc.constantFrom('$top', '$bottom'), field, field)
        .map(([fn, by, f]) => d({ [fn]: d({ sortBy: d({ [by]: new Int32(-1) }), output: `$${f}` }) })),
      fc
        .tuple(fc.constantFrom('$topN', '$bottomN'), field, field)
        .map(([fn, by, f]) => d({ [fn]: d({ n: new Int32(2), sortBy: d({ [by]: new Int32(1) }), output: `$${f}` }) })),
    ),
  },
  fc.tuple(fc.constantFrom('$first', '$last', '$push', '$stdDevPop'), path).map(([fn, f]) => d({ [fn]: `$${f}` })),
);
const group = fc
  .tuple(key, fc.array(accumulator, { maxLength: 3 }))
  .map(([k, all]) =>
    d({ $group: d({ _id: k, ...Object.fromEntries(all.map((each, index) => [`v${index}`, each])) }) }),
  );
const sort = fc
  .array(fc.tuple(field, fc.constantFrom(new Int32(1), new Int32(-1))), { minLength: 1, maxLength: 2 })
  .map((keys) => d({ $sort: d(Object.fromEntries(keys)) }));
/** Renamed fields, constants and objects of them, to be placed after the fields that stay. */
const madeValue: fc.Arbitrary<BsonValue> = fc.oneof(
  { weight: 6, arbitrary: field.map((f) => `$${f}`) },
  fc.constantFrom<BsonValue>(
    '$data',
    '$$ROOT.data.deep',
    '$tags',
    '$additional_parameters',
    '$none',
    '$component_name.x',
  ),
  fc.constantFrom<BsonValue>(d({ $literal: 3 }), d({ $concat: ['$part_id', '!'] }), d({ $literal: null }), '$$REMOVE'),
);
const made: fc.Arbitrary<Record<string, BsonValue>> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  { weight: 3, arbitrary: fc.dictionary(fc.constantFrom('a', 'b', '_id', 'robot_id'), madeValue, { maxKeys: 3 }) },
  fc.tuple(madeValue, madeValue).map(([a, b]) => ({ 'o.a': a, 'o.b': b })),
  fc.tuple(madeValue, madeValue).map(([a, b]) => ({ o: d({ a, p: d({ b }) }) })),
);

const project = fc
  .array(
    fc.constantFrom(
      'data.n',
      'data.s',
      'data.deep',
      'data.deep.y',
      'component_name',
      'time_received',
      'data.m',
      'tags',
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((names) => Object.fromEntries(withoutBelow([...new Set(names)]).map((name) => [name, new Int32(1)])))
  .chain((kept) => made.map((fields) => d({ $project: d({ ...kept, ...fields }) })));

function withoutBelow(names: readonly string[]): readonly string[] {
  return names.filter((name) => !names.some((other) => name.startsWith(`${other}.`)));
}

const newest: fc.Arbitrary<readonly BsonDocument[]> = fc
  .constantFrom('$part_id', '$component_name', '$capture_day')
  .map((id) => [
    d({ $sort: d({ time_received: new Int32(-1) }) }),
    d({ $group: d({ _id: id, last: d({ $first: '$data' }), at: d({ $first: '$time_received' }) }) }),
  ]);

const tail: fc.Arbitrary<readonly BsonDocument[]> = fc.oneof(
  { weight: 5, arbitrary: group.map((stage) => [stage]) },
  { weight: 4, arbitrary: project.map((stage) => [stage]) },
  made
    .filter((fields) => Object.keys(fields).length > 0 && !('o.a' in fields))
    .map((fields) => [d({ $replaceWith: d(fields) })]),
  fc
    .tuple(key, field)
    .map(([k, f]) => [
      d({ $group: d({ _id: k, s: d({ $addToSet: `$${f}` }) }) }),
      d({ $project: d({ n: d({ $size: '$s' }) }) }),
    ]),
  fc.tuple(project, sort, group).map(([stage, order, then]) => [stage, order, then]),
  fc.tuple(sort, fc.integer({ min: 1, max: 30 })).map(([stage, limit]) => [stage, d({ $limit: new Int32(limit) })]),
  fc.tuple(sort, project).map(([stage, then]) => [stage, d({ $limit: new Int32(9) }), then]),
  fc.tuple(sort, group).map(([stage, then]) => [stage, then]),
  newest,
  fc.constantFrom([d({ $count: 'n' })], [], [d({ $limit: new Int32(5) })]),
);
const pipeline = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(fc.array(logical, { maxLength: 2 }), tail)
      .map(([filters, rest]) => [...filters.map((each) => d({ $match: each })), ...rest]),
  },
  // After a condition on `data`, the newest rows are not those in the footers.
  newest,
);

/** NaN has many bit patterns, which are not distinguished. */
function shown(batch: Batch): string {
  const plain = (value: BsonValue): BsonValue => {
    if (value instanceof BsonDocument) return new BsonDocument([...value].map(([name, each]) => [name, plain(each)]));
    if (Array.isArray(value)) return value.map(plain);
    return Number.isNaN(value) ? 'NaN' : value;
  };
  const rows = [...documentsOf(batch)].map((row) => encodeBson(plain(row) as BsonDocument));
  return rows.map((row) => Buffer.from(row).toString('latin1')).join('\n');
}

const scopes: readonly Scope[] = [
  wholeOrganization,
  { organizationId: 'org-1', locationIds: null, robotIds: ['robot-2'] },
  { organizationId: 'org-1', locationIds: ['loc-9'], robotIds: [] },
];

test.each([
  { fresh: 'in memory', settings: { tailRows: 1_000 }, ways: ['hot'] },
  { fresh: 'in columns', settings: { tailRows: 0, topBytes: 0 }, ways: ['documents'] },
])(
  'push-down gives the same answer as the executor alone, byte for byte, or its error, and the same metering: fresh rows $fresh',
  async ({ settings, ways }) => {
    await using store = await openTabular({ mergeFiles: 1_000, ...settings });
    await fill(store);
    const done = new Map<string, number>();
    const run = async (part: { readonly numRuns: number; readonly seed?: number }): Promise<void> => {
      await fc.assert(
        fc.asyncProperty(
          pipeline,
          fc.constantFrom(...scopes),
          fc.constantFrom('core' as const, 'rdk' as const),
          async (stages, scope, vocabulary) => {
            const ask = async (pushDown: boolean) => {
              try {
                const answer = await store.tabular.query({
                  plan: parseMql(stages),
                  scope,
                  vocabulary,
                  pushDown,
                  explain: true,
                });
                return {
                  bytes: shown(answer),
                  scanned: answer.scannedBytes,
                  explain: answer.explain,
                };
              } catch (caught) {
                return { error: String(caught) };
              }
            };
            const [on, off] = [await ask(true), await ask(false)];
            for (const { does, pushed } of on.explain?.sources ?? []) {
              done.set(does, (done.get(does) ?? 0) + 1);
              for (const each of pushed) done.set(each, (done.get(each) ?? 0) + 1);
            }
            expect({ ...on, explain: null }).toEqual({ ...off, explain: null });
          },
        ),
        part,
      );
    };
    // Queries that every run repeats.
    await run({ numRuns: 60, seed });
    const upTo = store.tabular.lag().committedPosition - 3;
    await createCatalog(store.db).addDelete('org-1', { predicate: { paths: { component_name: ['arm'] } }, upTo }, 0);
    // Others at each run.
    await run({ numRuns: 20 });
    // Each way was used, also by the queries of an unlucky seed.
    for (const does of ['group', 'top', 'columns', 'rows', 'newest', '$project', '$replaceWith', ...ways])
      expect(done.get(does), does).toBeGreaterThan(0);
  },
);
