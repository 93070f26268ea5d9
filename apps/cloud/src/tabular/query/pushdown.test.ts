import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openTabular, testPlace } from '../testing/open-tabular.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);
const day = 86_400_000;

const place = fc.constantFrom('a', 'b', 'é', '\u{1f600}', 'z');
const timeMs = fc.oneof(
  fc.constantFrom(noonMs, noonMs + 1, noonMs + 0.5, noonMs - day, noonMs + 40 * 365 * day, -1, -0.5, 0),
  fc.constant(null),
);
const operator = fc.constantFrom('$eq', '$gt', '$gte', '$lt', '$lte', '$ne');
const textCondition = fc.record({
  column: fc.constantFrom('location_id', 'component_name', 'capture_day', 'component_type'),
  operator,
  value: fc.oneof(
    place,
    fc.constantFrom('2026-05-17', '2026-05', 'core:component:sensor', 'rdk:component:sensor', '\uffff'),
  ),
});
const timeCondition = fc.record({
  column: fc.constantFrom('time_received', 'time_requested', 'time_synced'),
  operator,
  value: fc.constantFrom(noonMs, noonMs + 1, noonMs - day, 0, -1, noonMs + 40 * 365 * day).map((ms) => new Date(ms)),
});
const condition = fc.oneof(textCondition, timeCondition);
const clause = fc.oneof(
  condition.map((each) => ({ [each.column]: { [each.operator]: each.value } })),
  condition.map((each) => ({ $expr: { [each.operator]: [`$${each.column}`, each.value] } })),
  fc.array(place, { maxLength: 3 }).map((values) => ({ component_name: { $in: values } })),
);

test('push-down excludes only rows that the filter would exclude, hot and sealed, for either vocabulary', async () => {
  await using store = await openTabular();
  const rows = fc.sample(fc.record({ location: place, component: place, received: timeMs, requested: timeMs }), {
    numRuns: 120,
    seed: 7,
  });
  rows.forEach(({ location, component, received, requested }, i) => {
    store.append({
      place: { ...testPlace, locationId: location },
      metadata: { componentName: component },
      readings: [{ data: { i }, receivedMs: received, requestedMs: requested }],
      syncedMs: noonMs + (i % 3) * day,
    });
    if (i === 80) void store.tabular.seal();
  });
  await store.count();
  await expect.poll(() => store.tabular.sealedPosition()).toBeGreaterThan(0);
  const answers = new Set<number>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(clause, { minLength: 1, maxLength: 3 }),
      fc.constantFrom('core' as const, 'rdk' as const),
      async (clauses, vocabulary) => {
        const match = { $match: { $and: clauses } };
        const tail = [{ $sort: { 'data.i': 1 } }, { $project: { i: '$data.i' } }];
        const pushed = await store.mql([match, ...tail], { vocabulary });
        // A stage before the filter prevents its push-down.
        const reference = await store.mql([{ $addFields: { marked: 1 } }, match, ...tail], { vocabulary });
        expect(pushed).toEqual(reference);
        answers.add(pushed.length);
      },
    ),
    { numRuns: 50 },
  );
  // The generator makes queries that match some, all and no rows.
  expect(answers.size).toBeGreaterThan(5);
  const { files } = await store.tabular.status();
  expect(files).toBeGreaterThan(0);
});
