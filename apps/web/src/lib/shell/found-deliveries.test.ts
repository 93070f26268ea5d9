import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Delivery, DeliverySchema, DeliveryState } from '@platform/proto/platform/app/v1/triggers';
import { expect, test } from 'vitest';
import { foundDeliveries } from './found-deliveries.ts';

const delivery = (id: string, triggerName: string, more: object = {}): Delivery =>
  create(DeliverySchema, {
    ...{ id, triggerName, machineId: 'm', machineName: 'press', target: 'http://a/', state: DeliveryState.FAILED },
    ...{ eventAt: timestampFromMs(Date.UTC(2026, 6, 1, 12, 0, Number(id))), ...more },
  });

test('deliveries of one trigger are told apart by state and time, and the newest three of each are found', () => {
  const found = foundDeliveries([
    ...['9', '8', '7', '6'].map((id) => delivery(id, 'hot')),
    delivery('5', 'cold', { state: DeliveryState.DELIVERED }),
    delivery('4', '', { machineId: '', machineName: '' }),
  ]);
  expect(found.map(({ path }) => path)).toEqual(['9', '8', '7', '5', '4'].map((id) => `deliveries?id=${id}`));
  expect(new Set(found.map(({ name }) => name)).size).toBe(5);
  expect(found[0]?.name).toMatch(/^hot of press, failed, .*2026.*:\d\d:09 \S+, to http:\/\/a\/$/);
  expect(found[3]?.name).toContain('delivered');
  expect(found[4]?.name).toContain('message of a deleted machine');
});
