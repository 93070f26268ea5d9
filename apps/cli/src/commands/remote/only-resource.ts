/** Finds the resource that a command is about when its name was not given. */
import { failedPrecondition, invalidArgument } from '@platform/base/refusals';
import type { Machine } from '@platform/sdk/machine';

const shellApi = 'core:service:shell';

/**
 * The name of the only resource of a type.
 *
 * @param what needs it, for messages. @throws invalid_argument if there is none that is ready, or several
 */
export async function onlyResource(machine: Machine, api: string, what: string): Promise<string> {
  const names = await namesOf(machine, api);
  const [only] = names;
  if (names.length === 1 && only !== undefined) return only;
  throw invalidArgument(
    names.length === 0
      ? `${what}: expected a machine with a resource of type ${api}, found none that is ready; "platform machines part resources" lists what there is`
      : `${what}: expected --resource, because the machine has several of type ${api}: ${names.join(', ')}`,
  );
}

/** The shell service of a machine. @param asked --resource. @throws failed_precondition if it has none, with what to add */
export async function shellOf(machine: Machine, asked: unknown, what: string): Promise<string> {
  if (asked !== undefined) return String(asked);
  if ((await namesOf(machine, shellApi)).length > 0) return await onlyResource(machine, shellApi, what);
  const service = { name: 'shell', api: shellApi, model: 'core:builtin:builtin' };
  throw failedPrecondition(
    `${what}: expected a machine with a shell service, found none that is ready; add ${JSON.stringify(service)} to "services" of its configuration`,
  );
}

async function namesOf(machine: Machine, api: string): Promise<string[]> {
  const all = (await machine.resourceNames()).filter((full) => full.startsWith(`${api}/`));
  return all.map((full) => full.slice(api.length + 1));
}
