import { PassThrough } from 'node:stream';
import { create } from '@bufbuild/protobuf';
import { silentLog } from '@platform/base';
import { type OpenLinkRequest, OpenLinkRequestSchema } from '@platform/proto/platform/relay/v1/relay';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { byteStreamOver } from '@platform/rpc/client';
import { createTunnelServer, serve } from '@platform/rpc/server';
import { FakeClock } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { callOf } from '../access/testing/call-of.ts';
import { createLinks, type Links } from './links.ts';
import { relayBinding } from './relay-rpc.ts';

const partId = 'press';
const message = (data: Uint8Array): OpenLinkRequest => create(OpenLinkRequestSchema, { data });

interface Rig {
  readonly clock: FakeClock;
  readonly links: Links;
  /** How the cloud ended the link, and when, in ms from its opening. */
  readonly end: () => { readonly ms: number; readonly reason: unknown } | undefined;
  /** Lets this much time pass; everything can react in between. */
  pass(ms: number): Promise<void>;
}

/** The link of a machine that sends these messages. @param incoming what it gets */
async function rig(
  messages: (incoming: AsyncIterable<Uint8Array>, clock: FakeClock) => AsyncIterable<Uint8Array>,
): Promise<Rig> {
  const clock = new FakeClock();
  const links = createLinks(clock);
  const { methods } = relayBinding({
    ...{
      links,
      authorizeAnswer: () => {},
      heard: () => {},
      recheck: async ({ principal }) => principal,
      directCalls: {},
      clock,
    },
  });
  const [openLink] = methods;
  if (openLink?.kind !== 'bidi_streaming') throw new Error('expected a stream in both directions');
  let ended: { ms: number; reason: unknown } | undefined;
  const incoming = new PassThrough({ objectMode: true });
  async function* requests(): AsyncGenerator<OpenLinkRequest> {
    yield create(OpenLinkRequestSchema, { partId });
    for await (const data of messages(incoming, clock)) yield message(data);
  }
  const answers = openLink.handler(requests(), callOf({ kind: 'part', partId }, {}));
  const receive = async (): Promise<void> => {
    for await (const answer of answers) incoming.write((answer as unknown as { data: Uint8Array }).data);
  };
  receive().catch((reason: unknown) => {
    ended = { ms: clock.monotonic(), reason };
    incoming.end();
  });
  return {
    ...{ clock, links, end: () => ended },
    async pass(ms) {
      for (let passedMs = 0; passedMs < ms; passedMs += 100) {
        await clock.advance(100);
        for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

/** Reads what it gets, and sends nothing. */
async function* silence(incoming: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const _ of incoming) yield* [];
}

test.each([0, 14_900, 30_000])(
  'ADR-0066 a link from which nothing arrives ends after 21 s, although calls, the first after %i ms, still reach the machine',
  async (firstMs) => {
    const { links, end, pass } = await rig(silence);
    await pass(firstMs);
    const calls: Promise<unknown>[] = [];
    for (let second = 0; end() === undefined && second < 60; second++) {
      calls.push(Promise.allSettled([links.of(partId)?.link.client(RobotService).getVersion({})]));
      await pass(1_000);
    }
    await Promise.all(calls);
    expect(end()?.ms).toBeLessThanOrEqual(21_000);
    expect(end()?.reason).toMatchObject({ code: 'unavailable' });
  },
);

test('ADR-0066 a machine-server whose heartbeats come late, every 20 s, keeps its link: it is asked', async () => {
  let asked = 0;
  const { end, pass } = await rig((incoming, clock) => {
    const server = createTunnelServer({
      services: [
        serve<typeof RobotService, string>(RobotService, {
          getVersion() {
            asked++;
            return {};
          },
        }),
      ],
      ...{ authenticate: async () => 'cloud', clock, log: silentLog },
    });
    onTestFinished(() => server[Symbol.asyncDispose]());
    const { duplex, outgoing, beat } = byteStreamOver(incoming);
    duplex.on('error', () => {});
    void server.serve(duplex);
    clock.every(20_000, beat);
    return outgoing;
  });
  await pass(120_000);
  expect(end()).toBeUndefined();
  // After that, the cloud asks by PING, as on every link over which calls have been made.
  expect(asked).toBe(1);
});
