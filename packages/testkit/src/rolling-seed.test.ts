import { afterEach, expect, test, vi } from 'vitest';
import { rollingSeed } from './rolling-seed.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test('each run has another seed and says how to repeat it; FAULT_SEED sets it', () => {
  const said = vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.stubEnv('FAULT_SEED', undefined);
  const seeds = [rollingSeed(), rollingSeed(), rollingSeed()];
  expect(new Set(seeds).size).toBeGreaterThan(1);
  expect(said).toHaveBeenLastCalledWith(expect.stringContaining(`FAULT_SEED=${seeds[2]} repeats`));
  vi.stubEnv('FAULT_SEED', '7');
  expect(rollingSeed()).toBe(7);
});
