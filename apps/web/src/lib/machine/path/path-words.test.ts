import { expect, test } from 'vitest';
import { latencyText, stopsText } from './path-words.ts';

test('what a lost connection means for what moves is said only where it is known', () => {
  expect(stopsText(undefined)).toBe('This page has moved nothing.');
  expect(stopsText(500)).toBe('What this page moved stops by itself within 0.5 s.');
  expect(stopsText('none')).toContain('is unknown');
});

test('latencies are whole milliseconds', () => {
  expect([latencyText(0.4), latencyText(1.6), latencyText(153.2)]).toEqual(['under 1 ms', '2 ms', '153 ms']);
});
