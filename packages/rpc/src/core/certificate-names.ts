/**
 * Certificates must name their servers in subject alternative names: browsers and the clients of Go and Python look at nothing else. Node also
 * accepts the common name, so a certificate without them would work here and nowhere else.
 */
import { isIP } from 'node:net';
import { type PeerCertificate, checkServerIdentity as refusalByNames } from 'node:tls';

/** The code of the error of a certificate without subject alternative names. */
export const noNamesCode = 'NO_SUBJECT_ALT_NAMES';

/** For `tls.connect`: the reason why this certificate does not belong to the host; undefined if it does. */
export function checkServerIdentity(host: string, certificate: PeerCertificate): Error | undefined {
  if (certificate.subjectaltname !== undefined) return refusalByNames(host, certificate);
  const error = new Error(`the certificate of ${host} has no subject alternative names`);
  return Object.assign(error, { code: noNamesCode });
}

/** A command that makes a certificate for this name or address. */
export function certificateCommand(name: string): string {
  const kind = isIP(name) === 0 ? 'DNS' : 'IP';
  return `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -keyout key.pem -out cert.pem -subj "/CN=${name}" -addext "subjectAltName=${kind}:${name}"`;
}
