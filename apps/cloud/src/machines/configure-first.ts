/** Saves the first configuration of a new machine: the default fragments of its organization, if it has any. */
import { errorText, PlatformError } from '@platform/base';
import type { Caller } from '../access/audit.ts';
import type { MachineOperationDeps } from './machines-deps.ts';

/** Fragments that cannot be imported as they are do not keep a machine from being created; its log says why it has none. */
export async function configureFirst(
  { configurations, registry, firstDocument, firstDocumentRefused }: MachineOperationDeps,
  by: Caller,
  machineId: string,
  organizationId: string,
): Promise<void> {
  const document = firstDocument(organizationId);
  const part = registry.partsOf(machineId).find(({ main }) => main === 1);
  if (document === undefined || part === undefined) return;
  try {
    await configurations.save({ partId: part.id, document, by, action: 'AppService.NewRobot' });
  } catch (caught) {
    if (!(caught instanceof PlatformError)) throw caught;
    await firstDocumentRefused(part.id, errorText(caught));
  }
}
