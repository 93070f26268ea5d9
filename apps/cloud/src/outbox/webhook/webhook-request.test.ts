import { expect, test } from 'vitest';
import type { EventPlace } from '../event.ts';
import { webhookRequest } from './webhook-request.ts';

const place: EventPlace = {
  organizationId: 'o1',
  organizationName: 'Örg',
  locationId: 'l1',
  locationName: 'Loc',
  robotId: 'r1',
  robotName: 'Machine\r\nX-Evil: 1',
  partId: 'p1',
  partName: 'main',
};

test.each(['part_online', 'part_offline'])('D22 %s is GET without a body, with ids and names as headers', (type) => {
  const { method, headers, body } = webhookRequest({ type, place });
  expect([method, body]).toEqual(['GET', '']);
  expect(headers).toEqual({
    'Org-Id': 'o1',
    'Location-Id': 'l1',
    'Part-Id': 'p1',
    'Robot-Id': 'r1',
    'Organization-Name': Buffer.from('Örg').toString('latin1'),
    'Location-Name': 'Loc',
    'Machine-Name': 'Machine  X-Evil: 1',
  });
});
