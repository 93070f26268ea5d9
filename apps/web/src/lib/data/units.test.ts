import { expect, test } from 'vitest';
import { exactText, unitOf, valueText } from './units.ts';

test('a name gives its unit with its last word', () => {
  expect(
    ['memory_used_bytes', 'cpu_percent', 'uptime_seconds', 'latencyMs', 'disks.root.used_percent'].map(unitOf),
  ).toEqual(['B', '%', 's', 'ms', '%']);
  expect(['sent_bytes_per_second', 'cpu_percent_per_core', 'motor.volts'].map(unitOf)).toEqual(['B/s', '%', 'V']);
  expect(['items', 'bytes_limit_reached', 'constructor', 'heat', '', 'per', 'الحرارة'].map(unitOf)).toEqual(
    Array(7).fill(undefined),
  );
});

test('values are short and have their unit; the exact value stays readable', () => {
  expect(valueText('memory_used_bytes', 1_536_000_000)).toBe('1.54 GB');
  expect(exactText('memory_used_bytes', 1_536_000_000)).toBe('1536000000 B');
  expect(valueText('sent_bytes_per_second', 1_500)).toBe('1.5 kB/s');
  expect(valueText('cpu_percent', 12.345678)).toBe('12.3457 %');
  expect(valueText('cpu_percent_per_core', [1, 20.5])).toBe('1 %, 20.5 %');
  expect(valueText('uptime_seconds', 59.5)).toBe('59.5 s');
  expect(valueText('uptime_seconds', 93_784)).toBe('1 d 2 h');
  expect(valueText('uptime_seconds', 3_601)).toBe('1 h');
  expect(valueText('difference_bytes', -5)).toBe('-5 B');
  expect(valueText('angle_degrees', 90)).toBe('90°');
});

test('what is no number, or has no unit, is shown as it is', () => {
  expect(valueText('heat', 1 / 3)).toBe('0.33333333');
  expect(valueText('cpu_percent', 'broken')).toBe('broken');
  expect(valueText('cpu_percent', null)).toBe('');
  expect(valueText('open', true)).toBe('true');
  expect(valueText('list', [1, 'a'])).toBe('[1,"a"]');
  expect(valueText('list', [])).toBe('[]');
});
