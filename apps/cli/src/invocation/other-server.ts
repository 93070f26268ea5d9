/** What answers where a cloud was expected, when it is not one. */
import { type CodeName, sendHttp } from '@platform/sdk/cloud';
import type { Reached } from './context.ts';

/** A machine-server has its own sign-in, and none of a cloud's services. */
const codesOfOthers: readonly CodeName[] = ['unimplemented', 'unauthenticated', 'not_found', 'internal', 'unknown'];
const waitMs = 3_000;

/** @returns undefined when it may be a cloud */
export async function otherServer(code: CodeName, { url, ca }: Reached): Promise<string | undefined> {
  const at = URL.parse(url);
  if (at === null || !codesOfOthers.includes(code)) return undefined;
  const found = await sendHttp({ url: at, ca, signal: AbortSignal.timeout(waitMs) }).catch(() => undefined);
  if (!String(found?.body ?? '').startsWith('machine-server:')) return undefined;
  return `${url} is a machine-server, not a cloud. Give the address of your cloud with --url; it stands in the first lines of platform up, and as url in platform admin status`;
}
