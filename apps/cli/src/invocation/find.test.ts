import type { Cloud } from '@platform/sdk/cloud';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFinder, type Named, pick } from './find.ts';

const named = fc.record({ id: fc.uuid(), name: fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }) });
const several = fc.uniqueArray(named, { selector: ({ id }) => id, minLength: 1, maxLength: 8 });

function attempt(text: string, all: readonly Named[]): Named | string {
  try {
    return pick('machine', text, all);
  } catch (caught) {
    return String(Reflect.get(Object(caught), 'code'));
  }
}

test('an id finds its own object, whatever the names of others; a name finds the only object that has it', () => {
  fc.assert(
    fc.property(several, fc.nat(), (all, at) => {
      const one = all[at % all.length] as Named;
      expect(attempt(one.id, [...all, { id: 'x', name: one.id }])).toBe(one);
      const same = all.filter(({ name }) => name === one.name);
      expect(attempt(one.name, all)).toEqual(same.length === 1 ? one : 'invalid_argument');
    }),
  );
});

test('a picked object has the id or the name; an unknown text is not found', () => {
  fc.assert(
    fc.property(several, fc.string(), (all, text) => {
      const found = attempt(text, all);
      const fits = all.filter((one) => one.id === text || one.name.toLowerCase() === text.toLowerCase());
      if (fits.length === 0) expect(found).toBe('not_found');
      else
        expect(typeof found === 'string' ? found : fits).toEqual(typeof found === 'string' ? 'invalid_argument' : fits);
      if (typeof found !== 'string') expect(fits).toContain(found);
    }),
  );
});

test('the exact name wins over others that differ in case; similar names are suggested', () => {
  const all = [
    { id: '1', name: 'press' },
    { id: '2', name: 'Press' },
    { id: '3', name: 'drill' },
  ];
  expect(pick('machine', 'Press', all).id).toBe('2');
  expect(pick('machine', 'DRILL', all).id).toBe('3');
  expect(() => pick('machine', 'PRESS', all)).toThrow('found 2: press (1), Press (2). Use the id');
  expect(() => pick('machine', 'dril', all)).toThrow('Did you mean drill?');
  expect(() => pick('machine', 'lathe', all)).toThrow('Existing ones: press, Press, drill');
});

test('a machine whose name is also the path of another one is ambiguous; alone, either is found by that text', async () => {
  const locations = [
    { id: 'l1', name: 'a', parentLocationId: '' },
    { id: 'l2', name: 'b', parentLocationId: 'l1' },
  ];
  const machine = async (text: string, robots: readonly { id: string; name: string; location: string }[]) => {
    const app = {
      listOrganizations: async () => ({ organizations: [{ id: 'o', name: 'o' }] }),
      listLocations: async () => ({ locations }),
      listRobotsForOrg: async () => ({ robots }),
    } as unknown as Cloud['app'];
    return (await createFinder({ app: async () => app, defaultOrganization: async () => '' }).machine(text)).id;
  };
  const named = { id: 'm1', name: 'a/press', location: 'l2' };
  const inside = { id: 'm2', name: 'press', location: 'l1' };
  await expect(machine('a/press', [named, inside])).rejects.toThrow(
    'machine: expected only one named "a/press", found 2: a/b/a/press (m1), a/press (m2). Use the id',
  );
  expect(await machine('a/press', [named])).toBe('m1');
  expect(await machine('a/b/a/press', [named, inside])).toBe('m1');
  expect(await machine('a/press', [inside])).toBe('m2');
  expect(await machine('l1/PRESS', [inside])).toBe('m2');
  expect(await machine('press', [named, inside])).toBe('m2');
  await expect(machine('c/press', [named, inside])).rejects.toThrow('location: expected the id or name');
});
