/** Advice on what to change on the machine or in its cloud when certificates or TLS prevent a connection. */
import { errorText, isOfDeletedMachine } from '@platform/base';
import { certificateCommand, connectionFault } from '@platform/rpc/client';
import type { CloudCredentials } from './credentials.ts';

/** The error as a sentence that names the address of the cloud. */
export function connectionTrouble(
  error: unknown,
  { appAddress, ca }: Pick<CloudCredentials, 'appAddress' | 'ca'>,
): string {
  // Without the id of the part.
  if (isOfDeletedMachine(error))
    return `${appAddress}: ${errorText(error).replace(/^.*?: (?=the cloud has deleted)/, '')}`;
  const fault = connectionFault(error, appAddress);
  const renewed = 'get a new credentials file with "platform machines part config-file"';
  switch (fault?.kind) {
    case 'untrusted':
      return ca === undefined
        ? `${appAddress} has a certificate that no authority known to this machine has signed (${fault.reason}): if the cloud has its own authority, ${renewed}, which contains it as cloud.ca`
        : `${appAddress} has a certificate from a different authority than cloud.ca in the credentials file (${fault.reason}): if the cloud has a new authority, ${renewed}`;
    case 'name':
      return `${appAddress} has a certificate for another name (${fault.reason}): use an address that the certificate contains as cloud.app_address, or start the cloud with --tls-name ${hostOf(appAddress)}`;
    case 'noNames':
      return `${appAddress} has a certificate without subject alternative names, which no client accepts: make another one on the computer of the cloud: ${certificateCommand(hostOf(appAddress))}`;
    case 'dated':
      return `${appAddress} has a certificate that is not valid now (${fault.reason}): renew it in the cloud, and check the clocks of both computers`;
    case 'noTls':
      return `${appAddress} answers without TLS: expected http:// in cloud.app_address, or a cloud that uses TLS`;
    case 'notCloud':
      return `${appAddress} does not answer like a cloud (${fault.reason}): if the cloud uses TLS, cloud.app_address begins with https://; otherwise, the port may belong to another program`;
    case undefined: {
      const text = errorText(error);
      return text.includes(appAddress) ? text : `${appAddress}: ${text}`;
    }
  }
}

function hostOf(url: string): string {
  return URL.parse(url)?.hostname.replace(/^\[|\]$/g, '') ?? url;
}
