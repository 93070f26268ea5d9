import { systemClock } from '@platform/base';
import type { Link } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { waitReady } from './wait-ready.ts';

/** The request to modules when this server has a given address. */
async function requestFor(parentAddress: string): Promise<unknown> {
  const asked: unknown[] = [];
  const ready = async (request: unknown) => {
    asked.push(request);
    return { ready: true };
  };
  const link = { client: () => ({ ready }) } as unknown as Pick<Link, 'client'>;
  const signal = new AbortController().signal;
  await waitReady({ link, parentAddress, startupTimeoutMs: 60_000, clock: systemClock, signal });
  return asked[0];
}

test.each(['/tmp/modules/parent.sock', '127.0.0.1:4000'])(
  'modules get the address %s without a scheme in both fields: those of public SDKs look for a file of that name, or add unix:// themselves',
  async (address) => {
    const both = { parentAddress: address, rawParentAddress: address };
    expect(await requestFor(address)).toMatchObject(both);
  },
);
