import type { PlatformError } from '@platform/base';
import { expect, test } from 'vitest';
import { ChannelState } from './channel-state.ts';

function openChannel() {
  const stop = new AbortController();
  const sent: Uint8Array[] = [];
  const end = (reason: PlatformError): void => stop.abort(reason);
  const channel = new ChannelState({ send: (message) => void sent.push(message), end, ended: stop.signal });
  return { channel, sent, reason: () => (stop.signal.reason as PlatformError | undefined)?.code };
}

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('messages wait until somebody listens, and stay in order with those that arrive meanwhile', async () => {
  const { channel } = openChannel();
  const read = Buffer.from([0, 1, 2]);
  channel.receive(read.subarray(1, 2));
  read.fill(9);
  channel.receive(bytes(2));
  const got: number[] = [];
  channel.onMessage = (message) => {
    got.push(...message);
    if (message[0] === 1) channel.receive(bytes(4));
  };
  expect(got).toEqual([]);
  channel.receive(bytes(3));
  await settled();
  channel.receive(bytes(5));
  expect(got).toEqual([1, 2, 3, 4, 5]);
});

test('one that stops listening keeps what arrives, up to 1 MiB', async () => {
  const { channel, reason } = openChannel();
  for (let at = 0; at < 15; at++) channel.receive(new Uint8Array(65_536));
  channel.onMessage = () => {};
  await settled();
  channel.onMessage = undefined;
  for (let at = 0; at < 15; at++) channel.receive(new Uint8Array(65_536));
  expect(reason()).toBeUndefined();
  for (let at = 0; at < 2; at++) channel.receive(new Uint8Array(65_536));
  expect(reason()).toBe('resource_exhausted');
  const { channel: other, reason: ofOther } = openChannel();
  for (let at = 0; at < 10_000; at++) other.receive(bytes(1));
  expect(ofOther()).toBe('resource_exhausted');
});

test('what waits to be sent is counted; a wait for less than 1 MiB ends with it, and with the channel', async () => {
  const { channel, sent } = openChannel();
  const message = new Uint8Array(65_536);
  for (let at = 0; at < 17; at++) channel.send(message);
  expect([sent.length, channel.bufferedBytes]).toEqual([17, 17 * 65_536]);
  let isDrained = false;
  const drained = channel.drained().then(() => {
    isDrained = true;
  });
  channel.sent(65_536);
  await settled();
  expect(isDrained).toBe(false);
  channel.sent(1);
  await drained;
  await channel.drained();
  for (let at = 0; at < 3; at++) channel.send(message);
  const another = channel.drained();
  channel.close();
  await another;
  channel.send(message);
  expect(sent).toHaveLength(20);
});

test('a sender that never waits ends its own channel at 64 MiB; a message that is too long is refused', () => {
  const { channel, reason } = openChannel();
  expect(() => channel.send(new Uint8Array(65_537))).toThrow('at most 65536 bytes, found 65537');
  for (let at = 0; at < 1024; at++) channel.send(new Uint8Array(65_536));
  expect(reason()).toBeUndefined();
  channel.send(bytes(1));
  expect(reason()).toBe('resource_exhausted');
});

test('a listener that fails ends the channel, and nothing else', () => {
  const { channel, reason } = openChannel();
  channel.onMessage = () => {
    throw new Error('no');
  };
  channel.receive(bytes(1));
  expect(reason()).toBe('internal');
});
