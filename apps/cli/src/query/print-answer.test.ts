import { PassThrough } from 'node:stream';
import { parseStages } from '@platform/sdk/cloud';
import { expect, test } from 'vitest';
import type { Context } from '../invocation/context.ts';
import { createOutput } from '../results/output.ts';
import { printAnswer } from './print-answer.ts';

test('on a terminal the header is bold, and data from machines sets no colours', async () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const out = createOutput({ json: false, quiet: true, colours: true, width: 80 }, stdout, stderr, () => {});
  const rows = parseStages(JSON.stringify({ name: 'a\u001b[31mred', n: 1 }));
  const context = { out, signal: new AbortController().signal } as Context;
  await printAnswer(context, 'table', { rows, scannedBytes: 1, elapsedMs: 1, notices: [] });
  const [head = '', row] = String(stdout.read()).split('\n');
  expect(head.startsWith('\u001b[1mname ')).toBe(true);
  expect(row).toBe('a\\u001b[31mred  1');
});
