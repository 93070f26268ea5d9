/** A call over a network that damages one connection at one byte, in either direction: every byte of a recorded exchange. */
import { once } from 'node:events';
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net';
import { PlatformError } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { EchoService } from '../../test/echo-service.ts';
import { answer, callTypes, endings, settle } from '../../test/exchanges.ts';
import { type ScriptedPeer, startScriptedPeer } from '../../test/scripted-peer.ts';
import { connect } from './connect.ts';

interface Damage {
  readonly direction: 'requests' | 'answers';
  /** `cut`: reset before this byte. `hold`: nothing arrives from this byte on, and nobody is told. `garble`: this byte is another one. */
  readonly kind: 'cut' | 'hold' | 'garble';
  readonly at: number;
}

interface Proxy extends AsyncDisposable {
  readonly url: string;
  readonly sockets: ReadonlySet<Socket>;
  /** Of the last connection: bytes that arrived in each direction. */
  readonly bytes: Record<Damage['direction'], number>;
  /** Damages the next connection. */
  damage: Damage | undefined;
}

async function startProxy(peer: ScriptedPeer): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const { damage } = proxy;
    proxy.damage = undefined;
    Object.assign(proxy.bytes, { requests: 0, answers: 0 });
    const target = connectSocket(Number(new URL(peer.url).port), '127.0.0.1');
    const pass = (from: Socket, to: Socket, direction: Damage['direction']): void => {
      let passed = 0;
      from
        .setNoDelay()
        .on('error', () => {})
        .on('close', () => to.destroy());
      from.on('data', (bytes: Buffer) => {
        const at = damage?.direction === direction ? damage.at - passed : Number.POSITIVE_INFINITY;
        passed += bytes.length;
        proxy.bytes[direction] = passed;
        if (damage?.kind === 'garble' && at >= 0 && at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ 0x55;
        const isStopped = damage?.kind !== 'garble' && at < bytes.length;
        if (to.writable) to.write(isStopped ? bytes.subarray(0, Math.max(0, at)) : bytes);
        if (isStopped && damage?.kind === 'cut') from.resetAndDestroy();
      });
      sockets.add(from);
      from.once('close', () => sockets.delete(from));
    };
    pass(client, target, 'requests');
    pass(target, client, 'answers');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: Proxy = {
    ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, damage: undefined },
    bytes: { requests: 0, answers: 0 },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
    },
  };
  return proxy;
}

test.each(Object.entries(callTypes).slice(0, 2))(
  'a network that cuts, holds or garbles a byte of %s ends it with a code; later ones succeed, and nothing is left',
  async (type, call) => {
    await using peer = await startScriptedPeer({ answer });
    await using proxy = await startProxy(peer);
    const faults: string[] = [];

    const length = { requests: 0, answers: 0 };
    {
      await using link = connect({ baseUrl: proxy.url });
      const { signal } = new AbortController();
      await call(link, signal);
      // The acknowledgement of the settings may be under way.
      await call(link, signal);
      Object.assign(length, proxy.bytes);
    }
    for (const direction of ['requests', 'answers'] as const)
      for (let at = 0; at < length[direction]; at += type === 'a stream' ? 5 : 1)
        for (const kind of ['cut', 'hold', 'garble'] as const) {
          const clock = new FakeClock();
          const link = connect({ baseUrl: proxy.url, timeoutMs: 0, clock });
          proxy.damage = { direction, kind, at };
          const first = await settle(clock, link, call);
          const code = first instanceof PlatformError && first.message !== '' ? first.code : String(first);
          // The peer answers PINGs, and regards the call as answered: its end was lost.
          const isLost = kind === 'garble' && code === 'canceled';
          if (code !== 'ok' && !endings.has(code) && !isLost) faults.push(`${kind} ${direction} at ${at}: ${code}`);
          // A connection that is held is noticed at the latest when it is verified.
          await clock.advance(15_000);
          // The damage may only show in the second call; on a busy computer, virtual time may also pass before an answer arrives.
          let later: unknown;
          for (let left = 10; later !== 'ok' && left > 0; left--) later = await settle(clock, link, call);
          if (later !== 'ok') faults.push(`${kind} ${direction} at ${at}: then never another result than ${later}`);
          await link[Symbol.asyncDispose]();
          if (clock.waiting > 0) faults.push(`${kind} ${direction} at ${at}: ${clock.waiting} timers`);
          for (const socket of proxy.sockets) if (!socket.destroyed) await once(socket, 'close');
        }
    expect(faults).toEqual([]);
  },
);

test.each([
  ['half a message', [0, 0, 0, 0, 6, 0x0a]],
  ['half a prefix', [0, 0, 0]],
  ['two messages', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
  ['a message that cannot be decoded', [0, 0, 0, 0, 1, 0x0f]],
])(
  'D15 %s as an answer is no error of the request: a file would be set aside for INVALID_ARGUMENT',
  async (what, bytes) => {
    await using peer = await startScriptedPeer({
      answer(stream) {
        stream.resume();
        stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(Buffer.from(bytes));
      },
    });
    await using link = connect({ baseUrl: peer.url });
    const { say, join } = link.client(EchoService);
    async function* none(): AsyncGenerator<never, void> {}
    const code = what === 'two messages' ? 'unimplemented' : 'internal';
    await expect(say({})).rejects.toMatchObject({ code });
    await expect(join(none())).rejects.toMatchObject({ code });
  },
);
