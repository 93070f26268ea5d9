import { seriesColumns } from '@platform/query';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { coversSeries, type Delete } from '../catalog/row-filter.ts';
import { pathSetsOf, type Series } from '../catalog/series.ts';
import { coverageOf, isWhollyDeleted, type ListedRanges, narrowDelete } from './coverage.ts';

interface Row {
  readonly series: Series;
  readonly position: number;
  /** Microseconds; null: missing. */
  readonly received: number | null;
}

const text = fc.constantFrom('a', 'b', 'c');
const day = fc.constantFrom('2026-05-15', '2026-05-16', '2026-05-17');
const row: fc.Arbitrary<Row> = fc.record({
  series: fc
    .record({ part: text, component: text, tags: fc.subarray(['t', 'u']) })
    .map(({ part, component, tags }) => ({
      path: {
        ...Object.fromEntries(seriesColumns.map((column) => [column, 'x'])),
        part_id: part,
        component_name: component,
      } as Series['path'],
      tags,
      additionalParameters: new Uint8Array(),
    })),
  position: fc.integer({ min: 1, max: 6 }),
  received: fc.option(fc.integer({ min: 1, max: 6 })),
});
const rule = fc.record(
  { part_id: fc.subarray(['a', 'b', 'c', 'd'], { minLength: 1 }), component_name: fc.subarray(['a', 'b', 'c']) },
  { requiredKeys: [] },
);
const deletion: fc.Arbitrary<Delete> = fc.record({
  upTo: fc.oneof(fc.integer({ min: 0, max: 7 }), fc.constant(Number.MAX_SAFE_INTEGER)),
  predicate: fc.record(
    {
      paths: rule,
      except: fc.array(rule, { maxLength: 2 }),
      tags: fc.constantFrom('some' as const, 'none' as const, ['t']),
      beforeDay: day,
      receivedBefore: fc.integer({ min: 0, max: 7 }),
      sparesHot: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
});

function fileOf(rows: readonly Row[], captureDay: string): ListedRanges {
  const times = rows.flatMap(({ received }) => received ?? []);
  const isComplete = times.length === rows.length;
  return {
    captureDay,
    pathSets: pathSetsOf(rows.map(({ series }) => series)),
    timeReceived: {
      min: isComplete ? Math.min(...times) : null,
      max: times.length === 0 ? null : Math.max(...times),
    },
    positions: {
      min: Math.min(...rows.map(({ position }) => position)),
      max: Math.max(...rows.map(({ position }) => position)),
    },
  };
}

function isCovered({ series, position, received }: Row, { predicate, upTo }: Delete, captureDay: string): boolean {
  const { receivedBefore = Number.POSITIVE_INFINITY } = predicate;
  return (
    position <= upTo &&
    (received ?? Number.NEGATIVE_INFINITY) < receivedBefore &&
    coversSeries(series, predicate, captureDay)
  );
}

test('I10 a file is kept unchanged only if none of its rows is deleted, and dropped only if all are', () => {
  let whole = 0;
  const file = fc.tuple(fc.array(row, { minLength: 1, maxLength: 6 }), day);
  fc.assert(
    fc.property(file, fc.array(deletion, { maxLength: 3 }), ([rows, captureDay], deletes) => {
      const listed = fileOf(rows, captureDay);
      for (const each of deletes) {
        const coverage = coverageOf(listed, each);
        const covered = rows.filter((one) => isCovered(one, each, captureDay)).length;
        if (coverage === 'none') expect(covered).toBe(0);
        if (coverage === 'whole') expect(covered).toBe(rows.length);
        const within = narrowDelete(each, listed);
        expect(rows.map((one) => isCovered(one, within, captureDay))).toEqual(
          rows.map((one) => isCovered(one, each, captureDay)),
        );
      }
      if (!isWhollyDeleted(listed, deletes)) return;
      whole++;
      expect(rows.every((one) => deletes.some((each) => isCovered(one, each, captureDay)))).toBe(true);
    }),
    { numRuns: 10_000 },
  );
  expect(whole).toBeGreaterThan(10);
});

test('a file whose parts are covered by several deletions together is deleted as a whole', () => {
  const series = (part: string): Series => ({
    path: { ...Object.fromEntries(seriesColumns.map((column) => [column, 'x'])), part_id: part } as Series['path'],
    tags: [],
    additionalParameters: new Uint8Array(),
  });
  const rows = ['a', 'b'].map((part) => ({ series: series(part), position: 1, received: 1 }));
  const listed = fileOf(rows, '2026-05-15');
  const of = (part: string): Delete => ({
    upTo: 1,
    predicate: { paths: { part_id: [part] }, beforeDay: '2026-05-16', sparesHot: true },
  });
  expect(isWhollyDeleted(listed, [of('a'), of('b')])).toBe(true);
  expect(isWhollyDeleted(listed, [of('a'), { ...of('b'), upTo: 0 }])).toBe(false);
});
