import { create } from '@bufbuild/protobuf';
import { RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import { expect, test } from 'vitest';
import { checkAge } from './cache.ts';

test('D8 a cached configuration is fresh, then old from day 45, and refused past its limit with age and file; 0 means no limit', () => {
  const dayMs = 86_400_000;
  const cached = { config: create(RobotConfigSchema), confirmedMs: 0 };
  const kinds = (limit: number): string[] =>
    [1, 44.9, 45, 60, 60.1].map((days) => checkAge(cached, days * dayMs, limit, '/f').kind);
  expect(kinds(60)).toEqual(['fresh', 'fresh', 'old', 'old', 'refused']);
  expect(kinds(0)).toEqual(['fresh', 'fresh', 'old', 'old', 'old']);
  expect(checkAge(cached, 61 * dayMs, 60, '/f')).toMatchObject({ message: expect.stringMatching(/\/f .*61 days ago/) });
});
