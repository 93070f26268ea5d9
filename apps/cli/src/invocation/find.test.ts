import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Named, pick } from './find.ts';

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
