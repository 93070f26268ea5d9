import { parseSql } from '@platform/query/sql';
import { expect, test } from 'vitest';
import { openTabular, testPlace, wholeOrganization } from '../testing/open-tabular.ts';

/** Hours of work on one row. */
const numbers = Array.from({ length: 30_000 }, (_, n) => n);
const nowhere = { $in: ['none', '$list'] };
const loop = { $filter: { input: '$list', cond: { $in: [{ $filter: { input: '$list', cond: nowhere } }, '$list'] } } };
const runaway = [{ $addFields: { list: numbers } }, { $project: { n: { $size: loop } } }];

test('an organization that exceeds its share does not delay others, and is refused when too many of its queries wait', async () => {
  await using store = await openTabular({ concurrentQueries: 2, waitingQueries: 3 });
  for (const organizationId of ['org-1', 'org-2'])
    store.append({ place: { ...testPlace, organizationId }, readings: [{ data: { i: 1 } }] });
  const scope = { organizationId: 'org-2', locationIds: null, robotIds: null };
  const cancel = new AbortController();
  const asked = [1, 2, 3, 4, 5].map(() => store.mql(runaway, { signal: cancel.signal }));
  const loud = Promise.allSettled(asked);
  // One runs and three wait: the fifth is too many.
  await expect(asked[4]).rejects.toMatchObject({ code: 'resource_exhausted' });
  for (let i = 0; i < 3; i++) expect(await store.mql([{ $count: 'n' }], { scope })).toEqual([{ n: 1 }]);
  cancel.abort();
  expect((await loud).every(({ status }) => status === 'rejected')).toBe(true);
  expect(await store.count()).toBe(1);
});

test('counting queries do not wait for queries that read rows, even of the same organization, in MQL and SQL', async () => {
  await using store = await openTabular({ concurrentQueries: 2, waitingQueries: 1 });
  store.append({ readings: [{ data: { i: 1 } }] });
  const cancel = new AbortController();
  const asked = [1, 2, 3].map(() => store.mql(runaway, { signal: cancel.signal }));
  const loud = Promise.allSettled(asked);
  // One runs and one waits: there is no room for a third.
  await expect(asked[2]).rejects.toMatchObject({ code: 'resource_exhausted' });
  expect(await store.mql([{ $count: 'n' }])).toEqual([{ n: 1 }]);
  const plan = parseSql('SELECT COUNT(*) AS n FROM readings');
  expect(await store.tabular.query({ plan, scope: wholeOrganization, vocabulary: 'core' })).toMatchObject({ count: 1 });
  const series = { $group: { _id: '$component_name', last: { $max: '$time_received' } } };
  expect(await store.mql([series, { $count: 'n' }])).toEqual([{ n: 1 }]);
  // Work after a count may take long, so such a query waits in the queue of row queries.
  const late = store.mql([{ $count: 'n' }, ...runaway]);
  await expect(late).rejects.toMatchObject({ code: 'resource_exhausted' });
  cancel.abort();
  expect((await loud).every(({ status }) => status === 'rejected')).toBe(true);
});
