/** The address at which processes on this computer reach the cloud that was started here, and the authority that they trust. */
import { pinnedAuthority } from '@platform/sdk/cloud';
import type { Ready } from './output.ts';

/**
 * A cloud that listens on loopback or on all addresses is reached over loopback: its public name need not resolve to this computer, and
 * without TLS no data leaves this computer.
 *
 * @param host where the cloud listens.
 * @throws unavailable, failed_precondition if another server answers
 */
export async function localAddress(
  { url, caFingerprint }: Pick<Ready, 'url' | 'caFingerprint'>,
  host = '127.0.0.1',
): Promise<{ url: string; ca: string | undefined }> {
  const address = new URL(url);
  const loopback = loopbackOf(host);
  // A certificate from another authority may not name loopback; ours always does.
  if (loopback !== undefined && (address.protocol === 'http:' || caFingerprint !== undefined))
    address.hostname = loopback;
  const ca = caFingerprint === undefined ? undefined : await pinnedAuthority(address.origin, caFingerprint);
  return { url: address.origin, ca };
}

function loopbackOf(host: string): string | undefined {
  if (host === '::' || host === '::1') return '[::1]';
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === 'localhost' || /^127(\.\d{1,3}){3}$/.test(host) ? host : undefined;
}
