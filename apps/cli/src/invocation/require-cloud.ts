/** Recognizes an address that cannot belong to a cloud, and a server that is not a cloud. */
import { invalidArgument, unimplemented } from '@platform/base/refusals';
import { type CodeName, isLoopback, PlatformError, sendHttp } from '@platform/sdk/cloud';

export interface Reached {
  readonly url: string;
  /** PEM of the authority that the user chose to trust (--fingerprint, --ca). */
  readonly ca: string | undefined;
}

/** A machine-server has its own sign-in and none of the cloud's services. */
const codesOfOthers: readonly CodeName[] = ['unimplemented', 'unauthenticated', 'not_found', 'internal', 'unknown'];
const waitMs = 3_000;

/** @throws invalid_argument if nothing secret may be sent to this address */
export function requireAddress(text: string): void {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw invalidArgument(
      `expected the address of a cloud, such as http://127.0.0.1:8080 or https://cloud.example, found "${text}"`,
    );
  if (url.protocol === 'https:' || isLoopback(url.hostname)) return;
  throw invalidArgument(
    `expected an address that begins with https://, because a key or session would otherwise be sent to another computer in plaintext; found "${text}". platform up --host uses TLS unless it is told not to`,
  );
}

/** Call this before anything secret is sent. @throws unimplemented if the server is not a cloud, unavailable if there is none */
export async function requireCloud(reached: Reached): Promise<void> {
  const other = await otherServer(reached);
  if (other !== undefined) throw unimplemented(other);
}

/** A better error for a failed call. @returns undefined if the server may be a cloud */
export async function whyNoCloud(error: PlatformError, reached: Reached): Promise<PlatformError | undefined> {
  if (!codesOfOthers.includes(error.code)) return undefined;
  const other = await otherServer(reached).catch(() => undefined);
  return other === undefined ? undefined : unimplemented(other, error);
}

async function otherServer({ url, ca }: Reached): Promise<string | undefined> {
  const at = URL.parse(url);
  if (at === null) return undefined;
  const found = await sendHttp({ url: at, ca, signal: AbortSignal.timeout(waitMs) }).catch((caught: unknown) => {
    // A slow server may be a cloud.
    if (caught instanceof PlatformError) throw caught;
    return undefined;
  });
  // Its status page, or the reason why it does not show the page.
  if (!/^machine-server:|<title>machine-server: /.test(String(found?.body ?? ''))) return undefined;
  return `${url} is a machine-server, not a cloud. Use --url with the address of your cloud; platform up prints it when it starts, and platform admin status shows it as url`;
}
