import { newId } from '@platform/base';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openAccounts } from './testing/open-accounts.ts';
import { type AccountTree, openAccountTree } from './tree.ts';

type Parents = Map<string, string | null>;

/** The expected path, computed the slow way. */
function pathOf(parents: Parents, id: string): string[] {
  const above = parents.get(id);
  return above === null || above === undefined ? [id] : [id, ...pathOf(parents, above)];
}

function expectSame(tree: AccountTree, organizationId: string, parents: Parents): void {
  const ids = [...parents.keys()];
  expect(
    tree
      .locationsOf(organizationId)
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(ids.toSorted());
  for (const id of ids) {
    expect(tree.ancestors(id)).toEqual(pathOf(parents, id));
    const below = ids.filter((other) => pathOf(parents, other).includes(id));
    expect([...tree.descendants(id)].toSorted()).toEqual(below.toSorted());
    expect(
      tree
        .childrenOf(id)
        .map((row) => row.id)
        .toSorted(),
    ).toEqual(ids.filter((other) => parents.get(other) === id).toSorted());
  }
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('create' as const), at: fc.nat(30), to: fc.nat(30) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('move' as const), at: fc.nat(30), to: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), at: fc.nat(30), to: fc.nat(30) }) },
);

test('after random creations, moves and deletions the locations form a tree without cycles, in memory and in the store', async () => {
  const { ask, owner, db, tree, organizationId, locationId } = await openAccounts();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const parents: Parents = new Map(tree.locationsOf(organizationId).map((row) => [row.id, row.parent_id]));
      for (const { do: what, at, to } of steps) {
        const ids = [...parents.keys()];
        const id = ids[at % ids.length] ?? '';
        // An index past the last id means the top.
        const parent = ids[to % (ids.length + 1)] ?? null;
        if (what === 'create') {
          const { location } = await ask(owner, 'createLocation', {
            organizationId,
            name: newId(),
            parentLocationId: parent ?? '',
          });
          parents.set(location?.id ?? '', parent);
        } else if (what === 'move') {
          const cycle = parent !== null && pathOf(parents, parent).includes(id);
          const moved = ask(owner, 'updateLocation', { locationId: id, parentLocationId: parent ?? '' });
          if (cycle) await expect(moved).rejects.toMatchObject({ code: 'failed_precondition' });
          else {
            expect((await moved).location?.parentLocationId).toBe(parent ?? '');
            parents.set(id, parent);
          }
        } else if (id !== locationId) {
          const used = [...parents.values()].includes(id);
          const deleted = ask(owner, 'deleteLocation', { locationId: id });
          if (used) await expect(deleted).rejects.toMatchObject({ code: 'failed_precondition' });
          else {
            await deleted;
            parents.delete(id);
          }
        }
      }
      expectSame(tree, organizationId, parents);
      expectSame(await openAccountTree(db), organizationId, parents);
    }),
    { numRuns: 12 },
  );
});

test('if two simultaneous moves would form a cycle, one is refused', async () => {
  const { ask, owner, tree, organizationId } = await openAccounts();
  const [a = '', b = ''] = await Promise.all(
    ['a', 'b'].map(async (name) => (await ask(owner, 'createLocation', { organizationId, name })).location?.id),
  );
  const moves = await Promise.allSettled([
    ask(owner, 'updateLocation', { locationId: a, parentLocationId: b }),
    ask(owner, 'updateLocation', { locationId: b, parentLocationId: a }),
  ]);
  expect(moves.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(tree.descendants(a).length + tree.descendants(b).length).toBe(3);
});

test('a change that fails leaves the tree unchanged', async () => {
  const { tree, db, organizationId } = await openAccounts();
  const failing = tree.change(async (trx, changed) => {
    const row = await trx
      .updateTable('organizations')
      .set({ name: 'lost' })
      .where('id', '=', organizationId)
      .returningAll()
      .executeTakeFirstOrThrow();
    changed.organization(row);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(tree.organization(organizationId)?.name).toBe('My organization');
  expect(await db.selectFrom('organizations').select('name').execute()).toEqual([{ name: 'My organization' }]);
});

test('locations can be nested at most 32 deep, by creating and by moving', async () => {
  const { ask, owner, organizationId } = await openAccounts();
  const make = async (parentLocationId: string): Promise<string> =>
    (await ask(owner, 'createLocation', { organizationId, name: newId(), parentLocationId })).location?.id ?? '';
  let deepest = '';
  for (let depth = 1; depth <= 32; depth++) deepest = await make(deepest);
  await expect(make(deepest)).rejects.toThrow(/at most 32 levels of locations, found 33/);
  const other = await make('');
  await expect(ask(owner, 'updateLocation', { locationId: other, parentLocationId: deepest })).rejects.toMatchObject({
    code: 'failed_precondition',
  });
});
