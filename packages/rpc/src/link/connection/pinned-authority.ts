/** Fetches a cloud's certificate authority by its fingerprint, for a computer that knows nothing else about it (D31). */
import { X509Certificate } from 'node:crypto';
import { type DetailedPeerCertificate, type TLSSocket, connect as tlsConnect } from 'node:tls';
import { type Clock, failedPrecondition, invalidArgument, systemClock, unavailable } from '@platform/base';

const timeoutMs = 10_000;

/**
 * Sends nothing to the server. Pass the result as `ca` to `connect`, which then checks chain, name and dates as usual.
 *
 * @param fingerprint SHA-256, hexadecimal, with or without colons.
 * @returns the authority's certificate, PEM.
 * @throws failed_precondition when no certificate of the server's chain has this fingerprint, unavailable when there is no TLS server.
 */
export async function pinnedAuthority(
  baseUrl: string,
  fingerprint: string,
  clock: Clock = systemClock,
): Promise<string> {
  const url = new URL(baseUrl);
  const wanted = plain(fingerprint);
  if (url.protocol !== 'https:' || !/^[0-9A-F]{64}$/.test(wanted))
    throw invalidArgument(
      `expected an https:// address and a SHA-256 fingerprint of 64 hexadecimal digits, found ${baseUrl} and ${JSON.stringify(fingerprint.slice(0, 100))}`,
    );
  const chain = await chainOf(url, clock);
  const found = chain.find((certificate) => plain(certificate.fingerprint256) === wanted);
  if (found !== undefined) return found.toString();
  throw failedPrecondition(
    `${url.origin}: expected a certificate chain with the fingerprint ${fingerprint}, found ${chain.map((one) => one.fingerprint256).join(' and ')}: this is a different cloud, or someone is intercepting the connection`,
  );
}

function chainOf(url: URL, clock: Clock): Promise<X509Certificate[]> {
  return new Promise((resolve, reject) => {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    // The fingerprint decides; nothing is sent to the server before that.
    const socket: TLSSocket = tlsConnect({ host, port: Number(url.port || 443), rejectUnauthorized: false }, () => {
      const chain: X509Certificate[] = [];
      let peer: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
      while (peer?.raw !== undefined && !chain.some(({ raw }) => raw.equals(peer?.raw as Buffer))) {
        chain.push(new X509Certificate(peer.raw));
        peer = peer.issuerCertificate;
      }
      socket.destroy();
      resolve(chain);
    });
    const answered = new AbortController();
    socket.once('close', () => answered.abort());
    clock.sleep(timeoutMs, answered.signal).then(
      () => socket.destroy(new Error('no answer')),
      () => {},
    );
    socket.once('error', (error) =>
      reject(unavailable(`${url.origin} cannot be reached over TLS: ${error.message}`, error)),
    );
  });
}

function plain(fingerprint: string): string {
  return fingerprint
    .replace(/^sha256:/i, '')
    .replaceAll(':', '')
    .toUpperCase();
}
