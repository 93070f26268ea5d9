import { create } from '@bufbuild/protobuf';
import { LimitSchema } from '@platform/proto/platform/fleet/v1/fleet';
import { expect, test } from 'vitest';
import { limitWords } from './describe-limits.ts';

test('a counted limit in bytes shows how much of it is used', () => {
  const limit = create(LimitSchema, {
    ...{ unit: 'logical bytes', value: 2_000_000_000_000n, used: 500_000_000_000n },
    meaning: 'how much queries may scan in a UTC month (D26)',
  });
  expect(limitWords(limit)).toEqual({
    what: 'How much queries may scan in a UTC month',
    ...{ allowed: '2 TB', used: '500 GB', share: 0.25 },
  });
});

test('a limit that is not counted has only its number and unit; a limit of 0 is used up', () => {
  const limit = create(LimitSchema, { unit: 'mails', value: 50n, meaning: 'how many' });
  expect(limitWords(limit)).toEqual({ what: 'How many', allowed: '50 mails', used: '', share: undefined });
  expect(limitWords(create(LimitSchema, { unit: 'bytes', value: 0n, used: 0n })).share).toBe(1);
});
