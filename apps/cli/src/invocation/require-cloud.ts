/** Recognizes a server that is not a cloud. */
import { type CodeName, PlatformError, sendHttp } from '@platform/sdk/cloud';
import type { Reached } from './context.ts';

/** A machine-server has its own sign-in and none of the cloud's services. */
const codesOfOthers: readonly CodeName[] = ['unimplemented', 'unauthenticated', 'not_found', 'internal', 'unknown'];
const waitMs = 3_000;

/** Call this before anything secret is sent. @throws failed_precondition if the server is not a cloud */
export async function requireCloud(reached: Reached): Promise<void> {
  const other = await otherServer(reached);
  if (other !== undefined) throw new PlatformError('failed_precondition', other);
}

/** A better error for a failed call. @returns undefined if the server may be a cloud */
export async function whyNoCloud(error: PlatformError, reached: Reached): Promise<PlatformError | undefined> {
  const other = codesOfOthers.includes(error.code) ? await otherServer(reached) : undefined;
  return other === undefined ? undefined : new PlatformError('failed_precondition', other, error);
}

async function otherServer({ url, ca }: Reached): Promise<string | undefined> {
  const at = URL.parse(url);
  if (at === null) return undefined;
  const found = await sendHttp({ url: at, ca, signal: AbortSignal.timeout(waitMs) }).catch(() => undefined);
  if (!String(found?.body ?? '').startsWith('machine-server:')) return undefined;
  return `${url} is a machine-server, not a cloud. Use --url with the address of your cloud; platform up prints it when it starts, and platform admin status shows it as url`;
}
