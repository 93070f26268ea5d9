/** Samples as series: one for each metric. */
import { notFound } from '@platform/base/refusals';
import type { Sample } from '@platform/ftdc';

export interface Point {
  readonly timeMs: number;
  readonly value: number;
}

export interface Summary {
  readonly metric: string;
  readonly samples: number;
  readonly min: number;
  readonly mean: number;
  readonly max: number;
  readonly last: number;
}

export function metricsOf(samples: readonly Sample[]): string[] {
  return [...new Set(samples.flatMap(({ values }) => [...values.keys()]))].toSorted();
}

/** The metrics that a list of names matches, in which `*` is any text. @throws not_found with the pattern that matches none */
export function selectMetrics(known: readonly string[], patterns: readonly string[]): string[] {
  const found = patterns.flatMap((pattern) => {
    const parts = pattern.split('*').map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'));
    const matched = known.filter((name) => new RegExp(`^${parts.join('.*')}$`, 's').test(name));
    if (matched.length > 0) return matched;
    throw notFound(`--metric: no metric matches "${pattern}"; without --metric, the command lists all ${known.length}`);
  });
  return [...new Set(found)];
}

export function pointsOf(samples: readonly Sample[], metric: string): Point[] {
  return samples.flatMap(({ timeMs, values }) => {
    const value = values.get(metric);
    return value === undefined ? [] : [{ timeMs, value }];
  });
}

/** Change per second, at the end of each interval. A counter that falls was reset with its process: that interval is omitted. */
export function ratesOf(points: readonly Point[]): Point[] {
  return points.flatMap(({ timeMs, value }, at) => {
    const before = points[at - 1];
    if (before === undefined || timeMs <= before.timeMs || value < before.value) return [];
    return [{ timeMs, value: ((value - before.value) * 1_000) / (timeMs - before.timeMs) }];
  });
}

/** Means of intervals of `stepMs`, at their beginnings. */
export function steppedBy(points: readonly Point[], stepMs: number): Point[] {
  const steps = Map.groupBy(points, ({ timeMs }) => Math.floor(timeMs / stepMs) * stepMs);
  return [...steps].map(([timeMs, inside]) => ({
    timeMs,
    value: inside.reduce((sum, { value }) => sum + value, 0) / inside.length,
  }));
}

export function summaryOf(metric: string, points: readonly Point[]): Summary {
  const values = points.map(({ value }) => value);
  const sum = values.reduce((total, value) => total + value, 0);
  return {
    ...{ metric, samples: values.length, mean: rounded(sum / Math.max(1, values.length)) },
    min: values.reduce((least, value) => Math.min(least, value), values[0] ?? 0),
    max: values.reduce((most, value) => Math.max(most, value), values[0] ?? 0),
    last: values.at(-1) ?? 0,
  };
}

/** To six digits, which is more than the measurements have. */
export function rounded(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(6));
}
