/** The address at which other computers reach the cloud. */
import { invalidArgument } from '@platform/base/refusals';
import { isLoopback, type JsonObject } from '@platform/sdk/cloud';
import type { Context } from '../invocation/context.ts';

/** @throws invalid_argument */
export function givenAddress(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const url = URL.parse(value);
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '') return url.origin;
  throw invalidArgument(`--address: expected a URL such as https://cloud.example:8080, found ${JSON.stringify(value)}`);
}

/** A loopback address is useless on another computer, so this asks the cloud for its address. */
export async function addressFor({ cloud }: Context, url: string): Promise<string> {
  if (!isOfThisComputer(url)) return url;
  const { cloudUrl } = (await (await cloud()).getJson('/api/whoami')) as JsonObject;
  return typeof cloudUrl === 'string' ? cloudUrl : url;
}

/** Whether an address leads to this computer, whichever computer uses it. */
export function isOfThisComputer(url: string): boolean {
  return isLoopback(URL.parse(url)?.hostname ?? '');
}
