import { expect, test } from 'vitest';
import { type CommandLine, readCommandLine } from './command-line.ts';

const line: CommandLine = {
  program: 'npm run fault --',
  kinds: {
    cloud: { help: 'kills the cloud', options: ['kills', 'seed'] },
    memory: { help: 'little memory', options: ['large', 'only', 'fast'], parts: ['a', 'b'] },
  },
  options: {
    kills: { value: 'number', default: '200', help: 'processes that are killed' },
    large: { value: 'numbers', default: '1,30', help: 'at once' },
    only: { value: 'text', default: '', help: 'some parts' },
    fast: { value: 'switch', help: 'quickly' },
    seed: { value: 'number', help: 'of the run' },
  },
};
const mistake = (...args: string[]): string => {
  const request = readCommandLine(line, args);
  return 'mistake' in request ? request.mistake : '';
};

test('kinds, and the values of their options', () => {
  expect(readCommandLine(line, ['cloud', '--seed', '7'])).toEqual({
    kinds: ['cloud'],
    values: { kills: '200', large: '1,30', only: '', seed: '7' },
  });
  expect(readCommandLine(line, ['all', '--only', 'a,b', '--fast'])).toMatchObject({
    kinds: ['cloud', 'memory'],
    values: { only: 'a,b', fast: 'true' },
  });
});

test('help lists each kind with its options, or the named kinds alone', () => {
  const all = readCommandLine(line, ['--help']);
  expect(all).toMatchObject({ help: expect.stringMatching(/cloud .*\n.*--kills, --seed\n.*memory .*\n.*--large/) });
  expect(readCommandLine(line, ['cloud', '-h'])).toMatchObject({ help: expect.not.stringContaining('--large') });
  expect(readCommandLine(line, ['--help', '--bogus'])).toEqual(all);
});

test('a mistake is reported in one line, followed by the usage', () => {
  expect(mistake('cloud', '--bogus')).toMatch(/^Unknown option '--bogus'\n\nUsage: npm run fault -- KIND/);
  expect(mistake()).toMatch(/^expected some of all, cloud, memory; found none\n/);
  expect(mistake('colud')).toMatch(/^expected some of all, cloud, memory; found colud\n/);
  expect(mistake('cloud', '--large', '1')).toMatch(/^--large has no effect on cloud\n/);
  expect(mistake('cloud', '--kills', 'many')).toMatch(/^--kills: expected a whole number, found "many"\n/);
  expect(mistake('cloud', '--kills')).toMatch(/^Option '--kills.*' argument missing\n/);
  expect(mistake('memory', '--large', '1,,3')).toMatch(/^--large: expected positive numbers, separated by commas/);
  expect(mistake('memory', '--only', 'a,c')).toMatch(/^--only of memory: expected some of a,b, found c\n/);
});

test('a program without kinds has all options', () => {
  const single = { ...line, kinds: {} };
  expect(readCommandLine(single, ['--seed', '7'])).toMatchObject({ kinds: [], values: { seed: '7' } });
  expect(readCommandLine(single, ['--help'])).toMatchObject({
    help: expect.stringMatching(/^Usage: .* -- \[OPTION…\]\n/),
  });
  expect(readCommandLine(single, ['cloud'])).toMatchObject({
    mistake: expect.stringMatching(/^expected only options/),
  });
});
