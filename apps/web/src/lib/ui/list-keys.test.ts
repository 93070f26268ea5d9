import { expect, test } from 'vitest';
import { listKeys, movedBy } from './list-keys.ts';

test('arrow keys move the mark around a list; other keys do not, and nothing does in an empty list', () => {
  expect(movedBy('ArrowDown', { at: 0, count: 3 })).toBe(1);
  expect(movedBy('ArrowDown', { at: 2, count: 3 })).toBe(0);
  expect(movedBy('ArrowUp', { at: 0, count: 3 })).toBe(2);
  expect(movedBy('ArrowUp', { at: 0, count: 0 })).toBeUndefined();
  expect(movedBy('a', { at: 1, count: 3 })).toBeUndefined();
});

test('Enter chooses the marked option, and nothing in an empty list', () => {
  const chosen: number[] = [];
  const press = (at: number, count: number): void => {
    const event = { key: 'Enter', preventDefault: () => {} } as KeyboardEvent;
    listKeys(event, { at, count, idOf: String, move: () => {}, choose: (index) => chosen.push(index) });
  };
  press(1, 2);
  press(0, 0);
  expect(chosen).toEqual([1]);
});
