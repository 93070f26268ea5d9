import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { clockTime, dayOf, fullTime } from './time.ts';
import { chooseZone, setMachineZone, zoneChoice, zoneName } from './zone.ts';

const stored = new Map<string, string>();
vi.stubGlobal('localStorage', {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => stored.set(key, value),
  removeItem: (key: string) => stored.delete(key),
});
afterEach(() => {
  chooseZone('browser');
  setMachineZone(undefined);
});

afterAll(() => vi.unstubAllGlobals());

const noon = new Date('2026-07-01T12:00:05.042Z');

test('times are written in the zone of the setting, which they name, and the setting is kept', () => {
  expect(zoneChoice()).toBe('browser');
  expect(zoneName()).toBeUndefined();
  chooseZone('UTC');
  expect(fullTime(noon)).toMatch(/2026.*12:00:05.*UTC/);
  expect(clockTime(noon)).toBe('12:00:05.042');
  expect(fullTime(noon)).toContain(dayOf(noon));
  expect([...stored.values()]).toEqual(['UTC']);
  chooseZone('machine');
  setMachineZone('Asia/Tokyo');
  expect(fullTime(noon)).toMatch(/21:00:05.*(GMT\+9|JST)/);
  chooseZone('browser');
  expect(stored.size).toBe(0);
});

test('without a machine, or with one that reports no zone that exists, times are in the zone of the browser', () => {
  chooseZone('machine');
  expect(zoneName()).toBeUndefined();
  for (const odd of ['', 'Nowhere/Land', '‮', 'x'.repeat(10_000)]) {
    setMachineZone(odd);
    expect(zoneName()).toBeUndefined();
  }
  expect(fullTime(noon)).toContain('2026');
});
