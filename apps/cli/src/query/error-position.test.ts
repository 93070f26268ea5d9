import { expect, test } from 'vitest';
import { positionIn } from './error-position.ts';

test('an error with a line and a column shows the line with a caret below the column', () => {
  const text = 'SELECT a\r\n\tFROM\u001b[31m readings';
  expect(positionIn('line 1, column 8: expected b', { text })).toBe('  SELECT a\n         ^');
  // Tabs are spaces, escapes are spelled out, and the caret is still below the second word.
  expect(positionIn('line 2, column 12: expected b', { text })).toBe(
    `   FROM\\u001b[31m readings\n  ${' '.repeat(16)}^`,
  );
  expect(positionIn('line 1, column 9: expected more', { text: '日本 x' })).toBe(`  日本 x\n  ${' '.repeat(6)}^`);
  expect(positionIn('line 9, column 1: expected b', { text })).toBeUndefined();
});

test('a long line is truncated around the column', () => {
  const text = `${'a'.repeat(500)}!${'b'.repeat(500)}`;
  const [line = '', caret = ''] = (positionIn('line 1, column 501: no', { text }) ?? '').split('\n');
  expect(line.length).toBeLessThanOrEqual(80);
  expect(line[caret.indexOf('^')]).toBe('!');
});

test('an error with a stage shows the stage', () => {
  const stages = ['{"$match":{}}', `{"$limit":${'9'.repeat(200)}}`];
  expect(positionIn('stage 0 ($match): expected', { text: '', stages })).toBe('  stage 0: {"$match":{}}');
  expect(positionIn('stage 1 ($limit) at x: expected', { text: '', stages })).toMatch(/^ {2}stage 1: \{"\$limit":9+…$/);
  expect(positionIn('at $match.a.$divide: zero', { text: '', stages })).toBe('  stage 0: {"$match":{}}');
  expect(positionIn('at $match.a: zero', { text: '', stages: [...stages, '{"$match":{}}'] })).toBeUndefined();
  expect(positionIn('stage 7: expected', { text: '', stages })).toBeUndefined();
  expect(positionIn('no place', { text: '', stages })).toBeUndefined();
});
