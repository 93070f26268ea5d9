import {
  GetFragmentHistoryRequestSchema,
  GetFragmentRequestSchema,
  SetFragmentTagRequestSchema,
} from '@platform/proto/platform/app/v1/app';
import { expect, test } from 'vitest';
import { type FragmentsGiven, openFragments } from './testing/open-fragments.ts';

const config = (number: number) => ({ network: { note: `${number} ${'é'.repeat(450)}` } });

const kept = async ({ db }: FragmentsGiven, id: string): Promise<number[]> =>
  (
    await db
      .selectFrom('fragment_revisions')
      .select('revision')
      .where('fragment_id', '=', id)
      .where('config', '<>', '')
      .orderBy('revision')
      .execute()
  ).map(({ revision }) => revision);

const get = (given: FragmentsGiven, id: string, version?: string) =>
  given.ask(given.fragments.appHandlers.getFragment, GetFragmentRequestSchema, {
    id,
    ...(version === undefined ? {} : { version }),
  });
const tag = (given: FragmentsGiven, fragmentId: string, name: string, revision: string) =>
  given.ask(given.fragments.appHandlers.setFragmentTag, SetFragmentTagRequestSchema, {
    fragmentId,
    tag: name,
    revision,
  });

test("old revisions keep their metadata but lose their configurations beyond a fragment's limit", async () => {
  const given = await openFragments({ maxHistoryBytes: 10_000 });
  const { id = '' } = await given.create('kit', config(1));
  // Ten configurations of just over 900 bytes fit; the eleventh reduces them to three quarters of the limit.
  for (let number = 2; number <= 10; number++) await given.update(id, { config: config(number) });
  expect(await kept(given, id)).toHaveLength(10);
  const first = (await get(given, id)).revisions?.at(-1)?.createdAt;
  // Reads revision 3 into the cache; it must not be there afterwards.
  expect((await get(given, id, '3')).fragment?.fragment).toEqual(config(3));
  await given.update(id, { config: config(11) });
  expect(await kept(given, id)).toEqual([4, 5, 6, 7, 8, 9, 10, 11]);

  const { history } = await given.ask(given.fragments.appHandlers.getFragmentHistory, GetFragmentHistoryRequestSchema, {
    id,
  });
  expect(history?.map((entry) => [entry.revision, entry.editedBy?.value, entry.config !== undefined])).toEqual(
    Array.from({ length: 11 }, (_, index) => [String(11 - index), 'owner', index < 8]),
  );
  const { revisions } = await get(given, id);
  expect(revisions?.map(({ revision }) => revision)).toEqual(['11', '10', '9', '8', '7', '6', '5', '4']);
  await expect(get(given, id, '3')).rejects.toMatchObject({ code: 'not_found' });
  await expect(tag(given, id, 'old', '3')).rejects.toMatchObject({ code: 'failed_precondition' });
  await expect(given.save('press-main', { fragments: [{ id, version: '3' }] })).rejects.toThrow(/revision or a tag/);
  const stale = given.update(id, { config: {}, ...(first === undefined ? {} : { lastKnownUpdate: first as never }) });
  await expect(stale).rejects.toMatchObject({ code: 'aborted' });
});

test('the newest revision, and those used by tags, parts and other fragments, are kept', async () => {
  const given = await openFragments({ maxHistoryBytes: 3_000 });
  const { id = '' } = await given.create('kit', config(1));
  await given.update(id, { config: config(2) });
  await given.update(id, { config: config(3) });
  await tag(given, id, 'stable', '1');
  await given.save('press-main', { fragments: [{ id, version: '2' }] });
  await given.create('outer', { fragments: [{ id, version: '3' }] });
  for (let number = 4; number <= 9; number++) await given.update(id, { config: config(number) });
  expect(await kept(given, id)).toEqual([1, 2, 3, 9]);
  expect(await given.running('press-main')).toMatchObject(config(2));
  expect((await get(given, id, 'stable')).fragment?.fragment).toEqual(config(1));
});
