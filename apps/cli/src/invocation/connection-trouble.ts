/** Advice for a cloud that cannot be reached: nothing answers, its certificate is not trusted, or only one side uses TLS. */
import { certificateCommand, connectionFault } from '@platform/sdk/cloud';

export interface Trouble {
  readonly error: unknown;
  readonly url: string;
  /** This login trusts an authority that the user chose (--fingerprint, --ca). */
  readonly hasAuthority: boolean;
}

/** @returns undefined for errors that do not concern the connection */
export function connectionTrouble({ error, url, hasAuthority }: Trouble): string | undefined {
  const fault = connectionFault(error, url);
  switch (fault?.kind) {
    case 'untrusted':
      return hasAuthority ? anotherAuthority(url) : ownAuthority(url, fault.reason);
    case 'name':
      return `${url} has a certificate for another name (${fault.reason}). Use an address that the certificate contains, or start the cloud with --tls-name ${hostOf(url)}`;
    case 'noNames':
      return `${url} has a certificate without subject alternative names, which no client accepts. Make another one on the computer of the cloud:\n  ${certificateCommand(hostOf(url))}`;
    case 'dated':
      return `${url} has a certificate that is not valid now (${fault.reason}). Renew it in the cloud, and check the clocks of both computers`;
    case 'noTls':
      return `${url} answers without TLS. Did you mean http://${url.replace(/^https:\/\//, '')}?`;
    case 'notCloud':
      return `${url} does not answer like a cloud. If the cloud uses TLS, its address begins with https://. Otherwise, the port may belong to another program`;
    case undefined:
      return undefined;
  }
}

function ownAuthority(url: string, reason: string): string {
  return [
    `${url} has a certificate that no authority known to this computer has signed (${reason}).`,
    'This is normal for a self-hosted cloud with its own certificate authority. For any other server, someone may be intercepting the connection.',
    'If the cloud is yours, log in once with the fingerprint of its authority, or with --ca FILE ("login api-key" accepts both, too):',
    `  platform login --url ${url} --fingerprint SHA256`,
    'The cloud prints the fingerprint when it starts; "platform admin status" on its computer shows it as ca_fingerprint.',
    'From then on, commands that use this address trust the authority.',
  ].join('\n');
}

function anotherAuthority(url: string): string {
  return [
    `${url} has a certificate from a different authority than the one this login trusts. Either the cloud has a new authority, or someone is intercepting the connection.`,
    'Compare the fingerprint that the cloud printed when it started. If the cloud has a new authority, log in again:',
    `  platform login --url ${url} --fingerprint SHA256`,
  ].join('\n');
}

function hostOf(url: string): string {
  return URL.parse(url)?.hostname.replace(/^\[|\]$/g, '') ?? url;
}
