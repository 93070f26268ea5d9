import { runToEnd } from '@platform/base';
import { expect, test } from 'vitest';
import { encodeUpload } from '../../testing/open-tabular.ts';
import { RowBuffer } from '../rows/row-buffer.ts';
import { decodeUpload, newDecodeBuffers } from './decode-upload.ts';

test('D48 a long upload is decoded in steps', () => {
  const decode = (readings: number, text: string) => {
    const batch = encodeUpload({ readings: Array.from({ length: readings }, () => ({ data: { text } })) });
    const rows = new RowBuffer();
    return { rows, steps: decodeUpload(1, batch, rows, newDecodeBuffers(), () => 0) };
  };
  const stepsOf = (readings: number, text: string): number => {
    const { rows, steps } = decode(readings, text);
    let count = 1;
    while (steps.next().done !== true) count++;
    expect(rows.rows).toBe(readings);
    return count;
  };
  expect(stepsOf(10, '')).toBe(1);
  expect(stepsOf(10_000, '')).toBeGreaterThanOrEqual(9);
  expect(stepsOf(10, 'x'.repeat(100_000))).toBeGreaterThanOrEqual(9);
  const { rows, steps } = decode(3, 'text');
  expect(runToEnd(steps)).toEqual([]);
  expect(rows.rows).toBe(3);
});
