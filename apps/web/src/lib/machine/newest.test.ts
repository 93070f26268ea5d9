import { create } from '@bufbuild/protobuf';
import { NewestReadingSchema } from '@platform/proto/platform/live/v1/live';
import { expect, test } from 'vitest';
import { newestAfter } from './newest.ts';

const reading = (componentName: string, values: Record<string, number | string>) =>
  create(NewestReadingSchema, { componentName, methodName: 'Readings', values: { readings: values } });

test('a new reading replaces the one before it, whose numbers stay for the sparkline', () => {
  const first = newestAfter({ readings: [reading('oven', { heat: 1 }), reading('door', { state: 'open' })] });
  const [door, oven] = newestAfter({ readings: [reading('oven', { heat: 2 })] }, first);
  expect(door).toMatchObject({ component: 'door', values: { state: 'open' }, past: {} });
  expect(oven).toMatchObject({ component: 'oven', values: { heat: 2 }, past: { heat: [1, 2] } });
});

test('a picture has its size instead of values', () => {
  const picture = create(NewestReadingSchema, { componentName: 'camera', methodName: 'GetImages', bytes: 1_234n });
  expect(newestAfter({ readings: [picture] })).toMatchObject([{ values: {}, bytes: 1_234 }]);
});
