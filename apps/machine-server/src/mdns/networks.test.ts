import { createSocket } from 'node:dgram';
import { systemClock } from '@platform/base';
import { expect, onTestFinished, test } from 'vitest';
import { Networks } from './networks.ts';

test('a network on which nothing can be sent is tried again at the next look', async () => {
  const receiver = createSocket('udp4');
  onTestFinished(() => void receiver.close());
  const complaints: string[] = [];
  await using networks = new Networks({
    ...{ announcement: { hostName: 'press', machineNames: [], port: 8_080 }, receiver, clock: systemClock },
    complain: (what) => void complaints.push(what),
  });
  // Not an address of this computer.
  const complaint = 'multicast DNS cannot be sent from 192.0.2.1';
  for (const expected of [[complaint], [complaint, complaint]]) {
    networks.follow(['192.0.2.1']);
    await expect.poll(() => complaints).toEqual(expected);
  }
});
