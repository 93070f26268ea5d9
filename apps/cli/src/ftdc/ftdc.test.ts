import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FtdcEncoder, type Sample } from '@platform/ftdc';
import { expect, onTestFinished, test } from 'vitest';
import { plot } from './plot.ts';
import { readSamples, skippedText } from './read-samples.ts';
import { metricsOf, pointsOf, ratesOf, selectMetrics, steppedBy, summaryOf } from './series.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'ftdc-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

const sampleAt = (timeMs: number, values: Record<string, number>): Sample => ({
  ...{ timeMs, labels: { revision: 'r1' } },
  values: new Map(Object.entries(values)),
});

function fileOf(...samples: Sample[]): Buffer {
  const encoder = new FtdcEncoder();
  return Buffer.concat([encoder.header(), ...samples.map((sample) => encoder.blocks([sample]))]);
}

test('the files of a folder are read in the order of time; damage is reported with file and place, and loses only its samples', () => {
  const path = folder();
  writeFileSync(join(path, 'b.ftdc'), fileOf(sampleAt(1_000, { a: 1 }), sampleAt(3_000, { a: 3 })));
  const torn = fileOf(sampleAt(2_000, { a: 2 }), sampleAt(4_000, { a: 4 }));
  writeFileSync(join(path, 'a.ftdc'), torn.subarray(0, torn.length - 3));
  writeFileSync(join(path, 'c.ftdc'), 'text');
  writeFileSync(join(path, 'notes.txt'), 'text');
  const { samples, skipped } = readSamples(path);
  expect(samples.map(({ timeMs }) => timeMs)).toEqual([1_000, 2_000, 3_000]);
  expect(skipped.map(skippedText)).toEqual([
    expect.stringMatching(/^a\.ftdc: \d+ bytes at offset \d+: the end is torn off/),
    expect.stringMatching(/^c\.ftdc: 4 bytes at offset 0: not a file of diagnostics/),
  ]);
});

test('a path without samples is refused with what was expected there', () => {
  const path = folder();
  expect(() => readSamples(join(path, 'none'))).toThrow(
    /expected a file of diagnostics or a folder of them, .* found nothing/,
  );
  expect(() => readSamples(path)).toThrow('found no file NAME.ftdc');
  writeFileSync(join(path, 'x.json'), '{"this": "is JSON"}');
  expect(() => readSamples(join(path, 'x.json'))).toThrow(
    /no samples can be read: x\.json: .*expected it to begin with "PLATFTDC"/,
  );
});

test('metrics are selected by name and by *, summed up, turned into rates and thinned out', () => {
  const samples = [0, 1, 2, 3].map((i) =>
    sampleAt(i * 1_000, { 'cpu.user_us': i * 500, 'cpu.system_us': 7, rss: 10 - i }),
  );
  const known = metricsOf(samples);
  expect(known).toEqual(['cpu.system_us', 'cpu.user_us', 'rss']);
  expect(selectMetrics(known, ['rss', 'cpu.*', 'rss'])).toEqual(['rss', 'cpu.system_us', 'cpu.user_us']);
  expect(() => selectMetrics(known, ['cpu'])).toThrow(
    'no metric matches "cpu"; without --metric, the command lists all 3',
  );
  const user = pointsOf(samples, 'cpu.user_us');
  expect(summaryOf('u', user)).toEqual({ metric: 'u', samples: 4, min: 0, mean: 750, max: 1_500, last: 1_500 });
  expect(ratesOf(user).map(({ value }) => value)).toEqual([500, 500, 500]);
  // A counter that falls was reset.
  expect(
    ratesOf([...user, { timeMs: 4_000, value: 3 }, { timeMs: 5_000, value: 5 }]).map(({ value }) => value),
  ).toEqual([...[500, 500, 500], 2]);
  expect(steppedBy(user, 2_000)).toEqual([
    { timeMs: 0, value: 250 },
    { timeMs: 2_000, value: 1_250 },
  ]);
});

test('a plot shows the highest value of each column, the scale and the times', () => {
  const points = Array.from({ length: 17 }, (_, i) => ({ timeMs: i * 1_000, value: i }));
  const text = plot('load', points, { width: 21, height: 2 }, (timeMs) => `${timeMs / 1_000}s`);
  expect(text).toBe(['load', '16 ┤        ▁▁▂▃▄▅▆▇█', ' 0 ┤▁▂▃▄▅▆▇██████████', '    0s            16s'].join('\n'));
  expect(plot('flat', [{ timeMs: 0, value: 0 }], { width: 20, height: 2 }, String)).toContain('▁');
  expect(plot('none', [], { width: 20, height: 2 }, String)).toBe('none\n(no samples)');
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(21);
});
