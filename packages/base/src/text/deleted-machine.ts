import { asPlatformError } from '../errors.ts';

const said = 'the cloud has deleted this machine';

/** How the cloud refuses a machine-server whose credentials were right until the machine was deleted. */
export const deletedMachineText: string = `${said}: stop its machine-server, or connect it again with a new line ("platform machines connect NAME")`;

/** Whether an error is the refusal of a deleted machine. */
export function isOfDeletedMachine(error: unknown): boolean {
  const { code, message } = asPlatformError(error);
  return code === 'permission_denied' && message.includes(said);
}
