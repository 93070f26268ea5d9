/** Calls of each type over a network that delays, repeats or reorders one frame, or brings it late: every frame of a recorded exchange. */
import { once } from 'node:events';
import { PlatformError } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { answer, callTypes, endings, settle } from '../../test/exchanges.ts';
import { frameFaults, startFrameProxy } from '../../test/frame-proxy.ts';
import { startScriptedPeer } from '../../test/scripted-peer.ts';
import { connect } from './connect.ts';

test.each(Object.entries(callTypes))(
  'a network that delays, repeats or reorders a frame of %s, or brings it late, ends it with a code; later ones succeed, and nothing is left',
  async (_type, call) => {
    await using peer = await startScriptedPeer({ answer });
    await using proxy = await startFrameProxy(Number(new URL(peer.url).port));
    const faults: string[] = [];
    const length = { requests: 0, answers: 0 };
    {
      await using link = connect({ baseUrl: proxy.url });
      const { signal } = new AbortController();
      await call(link, signal);
      await call(link, signal);
      Object.assign(length, proxy.frames);
    }
    expect(Math.min(length.requests, length.answers)).toBeGreaterThan(5);
    for (const direction of ['requests', 'answers'] as const)
      for (let at = 0; at < length[direction]; at++)
        for (const kind of frameFaults) {
          const what = `${kind} ${direction} at frame ${at}`;
          const clock = new FakeClock();
          const link = connect({ baseUrl: proxy.url, timeoutMs: 0, clock });
          proxy.fault = { direction, kind, at, clock };
          const first = await settle(clock, link, call);
          const code = first instanceof PlatformError && first.message !== '' ? first.code : String(first);
          if (code !== 'ok' && !endings.has(code)) faults.push(`${what}: ${code}`);
          // What comes late comes now, and must not disturb anything.
          await clock.advance(60_000);
          let later: unknown;
          for (let left = 10; later !== 'ok' && left > 0; left--) later = await settle(clock, link, call);
          if (later !== 'ok') faults.push(`${what}: then never another result than ${later}`);
          await link[Symbol.asyncDispose]();
          await clock.advance(60_000);
          if (clock.waiting > 0) faults.push(`${what}: ${clock.waiting} timers`);
          for (const socket of proxy.sockets) if (!socket.destroyed) await once(socket, 'close');
        }
    expect(faults).toEqual([]);
  },
);
