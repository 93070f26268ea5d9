/** Runs before each test file if a program is missing: the tests of a file that calls it fail with a sentence that says how to install it. */
import { relative } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { missingProgramsVariable } from './missing-programs-variable.ts';
import { root } from './repository.ts';

const sentences = JSON.parse(process.env[missingProgramsVariable] ?? '{}') as Record<string, string>;

beforeAll(() => {
  const sentence = sentences[relative(root, expect.getState().testPath ?? '')];
  if (sentence !== undefined) throw new Error(sentence);
});
