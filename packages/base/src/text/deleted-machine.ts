import { asPlatformError } from '../errors.ts';

const said = 'the cloud has deleted';
const again = 'with a new line ("platform machines connect NAME")';

/** How the cloud refuses a machine-server whose credentials were right until the machine was deleted. */
export const deletedMachineText: string = `${said} this machine: stop its machine-server, or connect it again ${again}`;

/** How it refuses an API key that ended with the only place on which it had a role. The machine may live on elsewhere. */
export function deletedPlaceText(place: 'location' | 'organization'): string {
  return `${said} the ${place} of this key: if a machine-server uses it, stop that server, or connect its machine again ${again}`;
}

/** Whether an error is the refusal of credentials that were right until the machine, or the place of the key, was deleted. */
export function isOfDeletedMachine(error: unknown): boolean {
  const { code, message } = asPlatformError(error);
  return code === 'permission_denied' && message.includes(said);
}
