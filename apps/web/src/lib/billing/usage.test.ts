import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import { expect, test } from 'vitest';
import { usageByType } from './usage.ts';

test('usage is added up by type, with its unit', () => {
  expect(
    usageByType([
      { type: UsageCostType.TABULAR_DATA_UPLOAD, quantity: 1_500_000n },
      { type: UsageCostType.PER_MACHINE, quantity: 2n },
      { type: UsageCostType.TABULAR_DATA_UPLOAD, quantity: 500_000n },
    ]),
  ).toEqual([
    { name: 'Per machine', quantity: '2 machine-hours' },
    { name: 'Tabular data upload', quantity: '2 MB' },
  ]);
});
