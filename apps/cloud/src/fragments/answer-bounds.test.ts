import { create, toBinary } from '@bufbuild/protobuf';
import {
  FragmentVisibility,
  GetFragmentHistoryRequestSchema,
  GetFragmentHistoryResponseSchema,
  GetFragmentRequestSchema,
  GetFragmentResponseSchema,
  ListFragmentsRequestSchema,
  ListFragmentsResponseSchema,
  ListNestedFragmentsRequestSchema,
  ListNestedFragmentsResponseSchema,
} from '@platform/proto/platform/app/v1/app';
import { expect, test } from 'vitest';
import { callOf } from '../access/testing/call-of.ts';
import { defaultMaxFragments } from './require-capacity.ts';
import { RevisionCache } from './revision-cache.ts';
import type { RevisionRow } from './source.ts';
import { openFragments, owner, stranger } from './testing/open-fragments.ts';

const clientBytes = 4 * 1024 * 1024;
/** A configuration with this many bytes of text, and about as many in a message. */
const large = (bytes: number) => ({ network: { text: 'x'.repeat(bytes) } });

test('a list of large fragments stays within the size limit of public clients: the largest come without configuration', async () => {
  const given = await openFragments();
  for (let n = 0; n < 8; n++) await given.create(`large ${n}`, large(900_000), FragmentVisibility.PUBLIC);
  await given.create('small', large(10));
  const { listFragments } = given.fragments.appHandlers;
  const list = async (init: object, by?: typeof stranger) => {
    const answer = await given.ask(listFragments, ListFragmentsRequestSchema, init, by);
    expect(toBinary(ListFragmentsResponseSchema, create(ListFragmentsResponseSchema, answer)).length).toBeLessThan(
      clientBytes,
    );
    expect(answer.fragmentUsages).toHaveLength(answer.fragments?.length ?? 0);
    return answer.fragments ?? [];
  };
  const found = await list({ organizationId: 'acme' });
  expect(found.map(({ name }) => name)).toEqual([...Array.from({ length: 8 }, (_, n) => `large ${n}`), 'small']);
  expect(found.at(-1)?.fragment).toEqual(large(10));
  expect(found.filter(({ fragment }) => fragment !== undefined)).toHaveLength(5);
  const ofOthers = await list({ showPublic: true }, stranger);
  expect(ofOthers.map(({ fragment }) => fragment !== undefined)).toEqual([1, 1, 1, 1, 0, 0, 0, 0].map(Boolean));
  // A configuration omitted from the list can be read by id.
  const { id = '' } = found[7] ?? {};
  const one = await given.ask(given.fragments.appHandlers.getFragment, GetFragmentRequestSchema, { id });
  expect(one.fragment?.fragment).toEqual(large(900_000));
});

test('large fragments are resolved as long as the answer has room; the others report that there was none', async () => {
  const given = await openFragments();
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.push((await given.create(`large ${n}`, large(900_000))).id ?? '');
  const { id: outer = '' } = await given.create('outer', { fragments: ids.slice(0, 1) });
  const answer = await given.ask(given.fragments.appHandlers.listNestedFragments, ListNestedFragmentsRequestSchema, {
    additionalFragments: [outer, ...ids].map((fragmentId) => ({ fragmentId })),
  });
  const bytes = toBinary(ListNestedFragmentsResponseSchema, create(ListNestedFragmentsResponseSchema, answer)).length;
  expect(bytes).toBeLessThan(clientBytes);
  expect(answer.fragments?.map(({ id }) => id).toSorted()).toEqual([outer, ...ids].toSorted());
  const told = new Map(answer.resolvedFragments?.map((each) => [each.fragmentId, each]));
  for (const id of [outer, ids[0]]) expect(Object.keys(told.get(id)?.resolvedConfig ?? {})).toEqual(['network']);
  for (const id of ids.slice(1)) {
    expect(told.get(id)?.resolvedConfig).toBeUndefined();
    expect(told.get(id)?.error?.detail).toContain('request fewer fragments at once');
  }
});

test('a fragment too large for public clients is refused; the largest allowed one can be read with its history', async () => {
  const given = await openFragments();
  const digits = (count: number) => ({ network: { list: Array.from({ length: count }, () => 1) } });
  await expect(given.create('digits', digits(200_000))).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('fits into the messages of public clients'),
  });
  const { id = '' } = await given.create('digits', digits(185_000));
  await given.update(id, { name: 'again' });
  const { getFragment, getFragmentHistory } = given.fragments.appHandlers;
  const one = await given.ask(getFragment, GetFragmentRequestSchema, { id });
  expect(toBinary(GetFragmentResponseSchema, create(GetFragmentResponseSchema, one)).length).toBeLessThan(clientBytes);
  const revisions: (string | undefined)[] = [];
  let pageToken = '';
  do {
    const page = await given.ask(getFragmentHistory, GetFragmentHistoryRequestSchema, { id, pageToken });
    const bytes = toBinary(GetFragmentHistoryResponseSchema, create(GetFragmentHistoryResponseSchema, page)).length;
    expect(bytes).toBeLessThan(clientBytes);
    revisions.push(...(page.history ?? []).map(({ revision }) => revision));
    pageToken = page.nextPageToken ?? '';
  } while (pageToken !== '');
  expect(revisions).toEqual(['2', '1']);
});

test('the number of fragments of an organization is limited; deleting one makes room', async () => {
  const given = await openFragments();
  const { id = '' } = await given.create('first', {});
  const rows = Array.from({ length: defaultMaxFragments - 1 }, (_, n) => ({
    id: `f${n}`,
    organization_id: 'acme',
    name: `f${n}`,
    visibility: 'private' as const,
    revision: 1,
    created_ms: 1,
    updated_ms: 1,
  }));
  for (let at = 0; at < rows.length; at += 100)
    await given.db
      .insertInto('fragments')
      .values(rows.slice(at, at + 100))
      .execute();
  await expect(given.create('one more', {})).rejects.toMatchObject({ code: 'resource_exhausted' });
  await given.create('of others', {}, undefined, stranger);
  await given.fragments.appHandlers.deleteFragment?.({ id } as never, callOf(owner));
  await given.create('one more', {});
});

test('the revision cache counts memory, not text: small values cost more, and the least recently used go first', () => {
  const cache = new RevisionCache(100_000);
  const revision = (config: object) => ({
    row: { config: JSON.stringify(config) } as RevisionRow,
    config: config as never,
  });
  cache.set('a', revision({ text: 'x'.repeat(20_000) }));
  cache.set('b', revision({ text: 'x'.repeat(20_000) }));
  expect(cache.get('a')).toBeDefined();
  cache.set('c', revision({ text: 'x'.repeat(20_000) }));
  expect([cache.get('a'), cache.get('b'), cache.get('c')].map((each) => each !== undefined)).toEqual([
    true,
    false,
    true,
  ]);
  // 9,000 characters of text.
  cache.set('d', revision({ list: Array.from({ length: 3_000 }, () => []) }));
  expect([cache.get('a'), cache.get('c'), cache.get('d')].map((each) => each !== undefined)).toEqual([
    false,
    false,
    false,
  ]);
  expect(cache.bytes).toBe(0);
});
