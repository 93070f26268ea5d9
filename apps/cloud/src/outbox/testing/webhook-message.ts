/** A message of a trigger, for tests. */
import type { Message } from '../event.ts';
import { messageId } from '../message-id.ts';

export function webhookMessage(n: number, target: string, overrides: Partial<Message> = {}): Message {
  return {
    id: messageId(['test', n]),
    triggerName: 'hot',
    channel: 'webhook',
    target,
    eventAtMs: 1_000,
    event: {
      type: 'part_data_ingested',
      place: {
        organizationId: 'org',
        organizationName: 'Org',
        locationId: 'loc',
        locationName: 'Loc',
        robotId: 'robot',
        robotName: 'Robot',
        partId: 'part',
        partName: 'main',
      },
      data: {
        componentName: 'cpu',
        componentType: 'core:component:sensor',
        methodName: 'Readings',
        fileId: `file-${n}`,
        minTimeReceived: '2026-01-01T00:00:00.000Z',
        maxTimeReceived: '2026-01-01T00:00:01.000Z',
      },
    },
    ...overrides,
  };
}
