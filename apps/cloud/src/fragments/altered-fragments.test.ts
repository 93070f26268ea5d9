import {
  GetFragmentHistoryRequestSchema,
  GetFragmentRequestSchema,
  ListFragmentsRequestSchema,
  SetFragmentTagRequestSchema,
} from '@platform/proto/platform/app/v1/app';
import { expect, test } from 'vitest';
import { type FragmentsGiven, openFragments } from './testing/open-fragments.ts';

type Ask = 'list' | 'get' | 'byTag' | 'history' | 'update' | 'running';

/** A fragment with two revisions and a tag, which a part follows. */
async function given(): Promise<{ readonly on: FragmentsGiven; readonly ask: (what: Ask) => Promise<unknown> }> {
  const on = await openFragments();
  const { appHandlers } = on.fragments;
  const { id = '' } = await on.create('kit', { debug: true });
  await on.update(id, { config: { debug: false } });
  await on.create('other', {});
  const tag = { fragmentId: id, tag: 'stable', revision: '1' };
  await on.ask(appHandlers.setFragmentTag, SetFragmentTagRequestSchema, tag);
  await on.save('press-main', { fragments: [{ id, version: 'stable' }] });
  // Keeps no revision in memory.
  const get = (version: string): Promise<unknown> =>
    on.ask(appHandlers.getFragment, GetFragmentRequestSchema, { id, version });
  const asks: Readonly<Record<Ask, () => Promise<unknown>>> = {
    list: () => on.ask(appHandlers.listFragments, ListFragmentsRequestSchema, { organizationId: 'acme' }),
    get: () => get('2'),
    byTag: () => get('stable'),
    history: () => on.ask(appHandlers.getFragmentHistory, GetFragmentHistoryRequestSchema, { id }),
    update: () => on.update(id, { config: { debug: true } }),
    running: () => on.running('press-main'),
  };
  return { on, ask: (what) => asks[what]() };
}

const kit = `(select id from fragments where name = 'kit')`;

test.each<[string, string, RegExp, readonly Ask[]]>([
  [
    'a fragment altered',
    `update fragments set visibility = 'public' where id = ${kit}`,
    /its row in fragments was altered/,
    ['list', 'get', 'byTag', 'history', 'update', 'running'],
  ],
  [
    'another fragment of the organization moved',
    `update fragments set organization_id = 'umbrella' where name = 'other'`,
    /fragments of acme: expected 2 rows, found 1/,
    ['list'],
  ],
  [
    'a revision altered',
    `update fragment_revisions set config = '{}' where fragment_id = ${kit} and revision = 2`,
    /revision of fragment \S+ 2: its row/,
    ['list', 'get', 'history', 'update'],
  ],
  [
    'a revision deleted',
    `delete from fragment_revisions where fragment_id = ${kit} and revision = 2`,
    /fragment_revisions of \S+: expected 2 rows, found 1/,
    ['list', 'get', 'byTag', 'history', 'update'],
  ],
  [
    'a tag moved',
    `update fragment_tags set revision = 2 where fragment_id = ${kit}`,
    /tag of fragment \S+ stable: its row/,
    ['get', 'byTag', 'running'],
  ],
  [
    'a tag deleted',
    `delete from fragment_tags where fragment_id = ${kit}`,
    /expected 1 rows, found 0/,
    ['get', 'byTag', 'running'],
  ],
  [
    'what a part runs altered',
    `update part_fragments set revision = 2 where fragment_id = ${kit}`,
    /fragment of part press-main \S+ stable: its row/,
    ['update'],
  ],
])('D33 %s is DATA_LOSS for all that it could change', async (_what, statement, message, refused) => {
  for (const what of refused) {
    const { on, ask } = await given();
    await on.alterRows(statement);
    await expect(ask(what), what).rejects.toMatchObject({
      code: 'data_loss',
      message: expect.stringMatching(message),
    });
  }
});

test('D33 a fragment whose row is missing is DATA_LOSS, and one that was deleted is not found', async () => {
  const { on } = await given();
  const { id = '' } = await on.create('third', {});
  const get = () => on.ask(on.fragments.appHandlers.getFragment, GetFragmentRequestSchema, { id });
  await on.db.deleteFrom('fragment_revisions').where('fragment_id', '=', id).execute();
  await on.db.deleteFrom('fragments').where('id', '=', id).execute();
  await expect(get()).rejects.toMatchObject({ code: 'not_found' });
  const { id: lost = '' } = await on.create('fourth', {});
  await on.alterRows(
    `delete from fragment_revisions where fragment_id = '${lost}'; delete from fragments where id = '${lost}'`,
  );
  const asked = on.ask(on.fragments.appHandlers.getFragment, GetFragmentRequestSchema, { id: lost });
  await expect(asked).rejects.toMatchObject({ code: 'data_loss', message: expect.stringContaining('is missing') });
});
