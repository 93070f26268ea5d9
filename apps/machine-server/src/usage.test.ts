import { expect, test } from 'vitest';
import { flags } from './read-flags.ts';
import { asksForHelp, usage } from './usage.ts';

test('help names every option with its effect, the variables, and how to start; no line is longer than 110 columns', () => {
  const lines = usage().split('\n');
  for (const name of Object.keys(flags)) {
    const at = lines.findIndex((line) => line.split(' ').includes(`-${name}`) && line.startsWith('  -'));
    expect(at, name).toBeGreaterThan(0);
    expect(lines[at + 1]?.trim(), `effect of -${name}`).toMatch(/^\w.* \w/);
  }
  expect(usage()).toContain('  -config <file>\n      credentials of this machine');
  expect(usage()).toContain('platform machines part config-file press-7 > platform.json');
  expect(usage()).toContain('PLATFORM_BIND_ADDRESS');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(110);
});

test('help is shown for every usual spelling, even among other options', () => {
  for (const args of [['-help'], ['--help'], ['-h'], ['help'], ['-debug', '--help']])
    expect(asksForHelp(args)).toBe(true);
  for (const args of [[], ['-debug'], ['-config', 'helper.json']]) expect(asksForHelp(args)).toBe(false);
});
