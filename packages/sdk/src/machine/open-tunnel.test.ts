import { expect, test } from 'vitest';
import type { Machine } from './open-machine.ts';
import { openTunnel } from './open-tunnel.ts';

interface Request {
  readonly destinationPort?: number;
  readonly data?: Uint8Array;
}

type Answer = { readonly data: Uint8Array; readonly eof: boolean };

const nothing = new Uint8Array();

function machineWith(
  tunnel: (requests: AsyncIterable<Request>, options: { signal: AbortSignal }) => AsyncIterable<Answer>,
): Pick<Machine, 'client'> {
  return { client: () => ({ tunnel }) as never };
}

async function textOf(readable: ReadableStream<Uint8Array>): Promise<string> {
  let text = '';
  for await (const data of readable) text += Buffer.from(data).toString();
  return text;
}

test('each direction ends on its own', async () => {
  const received: string[] = [];
  const machine = machineWith(async function* (requests) {
    yield { data: Buffer.from('bye'), eof: false };
    yield { data: nothing, eof: true };
    for await (const { destinationPort, data } of requests)
      received.push(
        destinationPort === undefined ? Buffer.from(data ?? nothing).toString() : `port ${destinationPort}`,
      );
  });
  const { readable, writable, closed } = openTunnel(machine, 22);
  expect(await textOf(readable)).toBe('bye');
  const writer = writable.getWriter();
  await writer.write(Buffer.from('late'));
  await writer.close();
  await closed;
  expect(received).toEqual(['port 22', 'late']);
});

test('a large write goes in pieces', async () => {
  const sizes: number[] = [];
  const machine = machineWith(async function* (requests) {
    for await (const { data } of requests) if (data !== undefined) sizes.push(data.length);
    yield { data: nothing, eof: true };
  });
  const { readable, writable, closed } = openTunnel(machine, 22);
  const writer = writable.getWriter();
  const reading = textOf(readable);
  await writer.write(new Uint8Array(150_000));
  await writer.close();
  await reading;
  await closed;
  expect(sizes).toEqual([65_536, 65_536, 18_928]);
});

test('a refusal reaches both directions and `closed`; canceling one side ends the call', async () => {
  const refusing = machineWith(async function* (requests) {
    for await (const { destinationPort } of requests) if (destinationPort === 22) throw new Error('not listed');
    yield { data: nothing, eof: true };
  });
  const refused = openTunnel(refusing, 22);
  await expect(textOf(refused.readable)).rejects.toThrow('not listed');
  await expect(refused.closed).rejects.toThrow('not listed');
  await expect(refused.writable.getWriter().write(new Uint8Array(1))).rejects.toThrow('not listed');

  for (const end of ['cancel', 'abort'] as const) {
    const [began, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()];
    const waiting = machineWith(async function* (requests, { signal }) {
      signal.addEventListener('abort', () => ended.resolve(signal.reason));
      for await (const _ of requests) began.resolve();
      yield { data: nothing, eof: true };
    });
    const { readable, writable } = openTunnel(waiting, 22);
    const reader = readable.getReader();
    const reading = reader.read().catch(() => {});
    await began.promise;
    const why = new Error('enough');
    await (end === 'cancel' ? reader.cancel(why) : writable.abort(why));
    expect(await ended.promise).toBe(why);
    await reading;
  }
});
