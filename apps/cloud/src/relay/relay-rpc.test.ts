import { create } from '@bufbuild/protobuf';
import type { PlatformError } from '@platform/base';
import { OpenLinkRequestSchema } from '@platform/proto/platform/relay/v1/relay';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { callOf } from '../access/testing/call-of.ts';
import type { PartLink } from './links.ts';
import { relayBinding } from './relay-rpc.ts';

test('a link whose stream fails ends its call as unavailable, even before the link was told: no fault of the cloud', async () => {
  const over = new AbortController();
  const link = {
    ...{ partId: 'press', ended: over.signal, end: (reason: PlatformError) => over.abort(reason) },
    outgoing: (async function* (): AsyncGenerator<Uint8Array, void> {})(),
  } as unknown as PartLink;
  const { methods } = relayBinding({
    ...{ links: { open: () => link, of: () => link, lostMs: () => undefined }, authorizeAnswer: () => {} },
    heard: () => {},
    ...{ recheck: async ({ principal }) => principal, directCalls: {}, clock: new FakeClock() },
  });
  const [openLink] = methods;
  if (openLink?.kind !== 'bidi_streaming') throw new Error('expected a stream in both directions');
  async function* requests() {
    yield create(OpenLinkRequestSchema, { partId: 'press' });
  }
  const answers = openLink.handler(requests(), callOf({ kind: 'part', partId: 'press' }, {}))[Symbol.asyncIterator]();
  expect((await answers.next()).value).toMatchObject({ data: new Uint8Array() });
  await expect(answers.next()).rejects.toMatchObject({ code: 'unavailable', isOwnFault: false });
});
