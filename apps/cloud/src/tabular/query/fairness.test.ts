import { parseSql } from '@platform/query/sql';
import { expect, test } from 'vitest';
import { openTabular, testPlace, wholeOrganization } from '../testing/open-tabular.ts';

/** Hours of work over one row. */
const numbers = Array.from({ length: 30_000 }, (_, n) => n);
const nowhere = { $in: ['none', '$list'] };
const loop = { $filter: { input: '$list', cond: { $in: [{ $filter: { input: '$list', cond: nowhere } }, '$list'] } } };
const runaway = [{ $addFields: { list: numbers } }, { $project: { n: { $size: loop } } }];

test('an organization that asks more than there is room for keeps no one else waiting, and is refused when too many wait', async () => {
  await using store = await openTabular({ concurrentQueries: 2, waitingQueries: 3 });
  for (const organizationId of ['org-1', 'org-2'])
    store.append({ place: { ...testPlace, organizationId }, readings: [{ data: { i: 1 } }] });
  const scope = { organizationId: 'org-2', locationIds: null, robotIds: null };
  const cancel = new AbortController();
  const asked = [1, 2, 3, 4, 5].map(() => store.mql(runaway, { signal: cancel.signal }));
  const loud = Promise.allSettled(asked);
  // One runs, three wait: the fifth is too many.
  await expect(asked[4]).rejects.toMatchObject({ code: 'resource_exhausted' });
  for (let i = 0; i < 3; i++) expect(await store.mql([{ $count: 'n' }], { scope })).toEqual([{ n: 1 }]);
  cancel.abort();
  expect((await loud).every(({ status }) => status === 'rejected')).toBe(true);
  expect(await store.count()).toBe(1);
});

test('who only counts does not wait for queries that read rows, of the same organization neither, in MQL and SQL', async () => {
  await using store = await openTabular({ concurrentQueries: 2, waitingQueries: 1 });
  store.append({ readings: [{ data: { i: 1 } }] });
  const cancel = new AbortController();
  const asked = [1, 2, 3].map(() => store.mql(runaway, { signal: cancel.signal }));
  const loud = Promise.allSettled(asked);
  // One runs, one waits: there is no room for a third.
  await expect(asked[2]).rejects.toMatchObject({ code: 'resource_exhausted' });
  expect(await store.mql([{ $count: 'n' }])).toEqual([{ n: 1 }]);
  const plan = parseSql('SELECT COUNT(*) AS n FROM readings');
  expect(await store.tabular.query({ plan, scope: wholeOrganization, vocabulary: 'core' })).toMatchObject({ count: 1 });
  const series = { $group: { _id: '$component_name', last: { $max: '$time_received' } } };
  expect(await store.mql([series, { $count: 'n' }])).toEqual([{ n: 1 }]);
  // What is done with a count may take as long as it likes: it waits like all others.
  const late = store.mql([{ $count: 'n' }, ...runaway]);
  await expect(late).rejects.toMatchObject({ code: 'resource_exhausted' });
  cancel.abort();
  expect((await loud).every(({ status }) => status === 'rejected')).toBe(true);
});
