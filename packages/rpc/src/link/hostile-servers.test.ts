/** Links to peers that send anything but what a server should. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { codes, PlatformError } from '@platform/base';
import { hostileServers, sendAsServer, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { eachKind } from '../../test/each-kind.ts';
import { EchoService } from '../../test/echo-service.ts';
import { iterableTunnel } from '../../test/iterable-tunnel.ts';
import { connect, connectOver, type Link } from './connect.ts';

const source = hostileServers();
/** `npm run fault -- hostile` says how many. */
const count = Number(process.env['FAULT_GARBAGE'] ?? source.known + 150);
const nameOf = (kind: number): string => source.kind(kind).name;
/** Ends the calls that nobody answers. */
const options = { timeoutMs: 1_000 };

async function* words(): AsyncGenerator<{ value: string }> {
  yield { value: 'a' };
  yield { value: 'b' };
}

async function read(answers: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of answers);
}

/** A call of each type by turns. */
function call(turn: number, link: Link): Promise<unknown> {
  const { say, join, split, chat } = link.client(EchoService);
  const value = 'x'.repeat(turn % 3 === 0 ? 100_000 : 1);
  const types = [
    () => say({ value }, options),
    () => join(words(), options),
    () => read(split({ value }, options)),
    () => read(chat(words(), options)),
  ];
  return types[turn % types.length]?.() ?? Promise.resolve();
}

/** Two calls at once. @param outcomes their codes are added. @returns what was wrong with the way in which they ended */
async function callTwice(kind: number, link: Link, outcomes: Set<string>): Promise<string> {
  let fault = '';
  for (const result of await Promise.allSettled([call(kind, link), call(kind + 1, link)])) {
    const error: unknown = result.status === 'rejected' ? result.reason : undefined;
    if (result.status === 'fulfilled') outcomes.add('ok');
    else if (error instanceof PlatformError && error.code in codes && error.message !== '') outcomes.add(error.code);
    else fault = `not an error with code and text: ${error}`;
  }
  return fault;
}

/** Of calls that the garbage reached. Each is the outcome of dozens of calls, so that some of them end in time on a busy computer. */
const someOutcomes = ['ok', 'unavailable', 'deadline_exceeded', 'internal'];

test('whatever the peer at the end of a tunnel sends, calls end with a code, and the link with its stream', async () => {
  const outcomes = new Set<string>();
  const faults = await eachKind(count, nameOf, async (kind) => {
    const { near, far } = iterableTunnel();
    const link = connectOver({ stream: near, peerName: 'the machine', userAgent: 'test' });
    const sending = sendAsServer(far, source.kind(kind));
    const fault = await callTwice(kind, link, outcomes);
    await link[Symbol.asyncDispose]();
    if (!near.destroyed) await once(near, 'close');
    far.destroy();
    await sending;
    return fault;
  });
  expect(faults).toEqual([]);
  expect([...outcomes]).toEqual(expect.arrayContaining(someOutcomes));
});

test('no memory is kept for a link whose peer broke the protocol', async () => {
  const garbage = Buffer.from('not HTTP/2');
  const kept: WeakRef<object>[] = [];
  const breakOne = async (): Promise<void> => {
    const { near, far } = iterableTunnel();
    kept.push(new WeakRef(near));
    const link = connectOver({ stream: near, peerName: 'the machine', userAgent: 'test' });
    const failing = call(1, link).catch(() => {});
    // Its first bytes do not end the connection at once.
    for (const byte of garbage) {
      await setImmediate();
      far.write(Uint8Array.of(byte));
    }
    await failing;
    await link[Symbol.asyncDispose]();
  };
  for (let times = 0; times < 20; times++) await breakOne();
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const left = (): number => {
    collect();
    return kept.filter((each) => each.deref() !== undefined).length;
  };
  // The last one may still be on the stack.
  await expect.poll(left, { timeout: 20_000 }).toBeLessThanOrEqual(1);
});

test.each(['a port', 'a module socket'])(
  'whatever the server of %s sends, calls end with a code, and no connection is left',
  async (where) => {
    await using directory = await temporaryDirectory();
    let open = 0;
    const outcomes = new Set<string>();
    const faults = await eachKind(count, nameOf, async (kind) => {
      const server = createServer((socket) => {
        open++;
        socket.once('close', () => open--);
        void sendAsServer(socket, source.kind(kind));
      });
      const socketPath = where === 'a port' ? undefined : directory.file(`${kind}.sock`);
      await using listening = server.listen(
        socketPath === undefined ? { port: 0, host: '127.0.0.1' } : { path: socketPath },
      );
      await once(listening, 'listening');
      const baseUrl =
        socketPath === undefined ? `http://127.0.0.1:${(server.address() as AddressInfo).port}` : 'http://localhost';
      await using link = connect({ baseUrl, socketPath });
      return await callTwice(kind, link, outcomes);
    });
    expect(faults).toEqual([]);
    expect([...outcomes]).toEqual(expect.arrayContaining(someOutcomes));
    await expect.poll(() => open).toBe(0);
  },
);
