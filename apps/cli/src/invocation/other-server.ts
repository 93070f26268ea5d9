/** What answers where a cloud was expected, when it is not one. */
import { type CodeName, PlatformError, sendHttp } from '@platform/sdk/cloud';
import type { Reached } from './context.ts';

/** A machine-server has its own sign-in, and none of a cloud's services. */
const codesOfOthers: readonly CodeName[] = ['unimplemented', 'unauthenticated', 'not_found', 'internal', 'unknown'];
const waitMs = 3_000;

/** Before anything secret is sent there. @throws failed_precondition when it is no cloud */
export async function requireCloud(reached: Reached): Promise<void> {
  const other = await otherServer(reached);
  if (other !== undefined) throw new PlatformError('failed_precondition', other);
}

/** The better error of a call that failed. @returns undefined when it may be a cloud */
export async function whyNoCloud(error: PlatformError, reached: Reached): Promise<PlatformError | undefined> {
  const other = codesOfOthers.includes(error.code) ? await otherServer(reached) : undefined;
  return other === undefined ? undefined : new PlatformError('failed_precondition', other, error);
}

async function otherServer({ url, ca }: Reached): Promise<string | undefined> {
  const at = URL.parse(url);
  if (at === null) return undefined;
  const found = await sendHttp({ url: at, ca, signal: AbortSignal.timeout(waitMs) }).catch(() => undefined);
  if (!String(found?.body ?? '').startsWith('machine-server:')) return undefined;
  return `${url} is a machine-server, not a cloud. Give the address of your cloud with --url; it stands in the first lines of platform up, and as url in platform admin status`;
}
