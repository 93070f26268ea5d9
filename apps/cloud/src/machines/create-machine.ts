/** Creates a machine with its main part and, in the same transaction, its organization's default fragments, if there are any. */
import { newId, PlatformError } from '@platform/base';
import { audit, type Caller } from '../access/audit.ts';
import { notVisible } from '../access/principal.ts';
import { isLocationStored } from '../accounts/locations/stored-locations.ts';
import type { FirstVersion } from './configuration/configuration.ts';
import { insertMachine } from './insert-machine.ts';
import type { MachineOperationDeps } from './machines-deps.ts';
import type { MachineRow } from './registry.ts';
import { requireFreeName } from './require-free-name.ts';

/** How often a creation is restarted because a default fragment changed during it. */
const maxAttempts = 5;

interface NewMachine {
  readonly organizationId: string;
  readonly locationId: string;
  /** Already validated. */
  readonly name: string;
}

export async function createMachine(deps: MachineOperationDeps, by: Caller, given: NewMachine): Promise<MachineRow> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptOnce(deps, by, given);
    } catch (caught) {
      const isConflict = caught instanceof PlatformError && caught.code === 'aborted';
      if (!isConflict || attempt === maxAttempts) throw caught;
    }
  }
}

async function attemptOnce(deps: MachineOperationDeps, by: Caller, given: NewMachine): Promise<MachineRow> {
  const { db, registry, instanceKey, clock } = deps;
  const { organizationId, locationId, name } = given;
  const nowMs = clock.now();
  const partId = newId();
  const { first, refused } = await firstVersion(deps, by, organizationId, partId);
  const { machine, part, secret } = await db.transaction().execute(async (trx) => {
    if (!(await isLocationStored(trx, locationId))) throw notVisible('location', locationId);
    // Who may create machines here may read all of them. The registry does not have those of a moment ago yet.
    await requireFreeName(trx, () => true, { locationId, name });
    const created = await insertMachine(trx, instanceKey, { locationId, name, partId, nowMs });
    const detail = { name, location: locationId, main_part: partId };
    await audit(trx, by, nowMs, 'AppService.NewRobot', ['machine', created.machine.id, organizationId], detail);
    await first?.write(trx);
    return created;
  });
  registry.putMachine(machine);
  registry.putPart(part);
  registry.secrets.put(secret);
  await first?.committed();
  if (refused !== undefined) await deps.firstDocumentRefused(partId, refused);
  return machine;
}

/** A machine is created even if the default fragments cannot be imported; its log then contains the reason. */
async function firstVersion(
  { configurations, firstDocument }: MachineOperationDeps,
  by: Caller,
  organizationId: string,
  partId: string,
): Promise<{ readonly first?: FirstVersion; readonly refused?: string }> {
  const document = firstDocument(organizationId);
  if (document === undefined) return {};
  try {
    return {
      first: await configurations.first({ partId, document, by, organizationId, action: 'AppService.NewRobot' }),
    };
  } catch (caught) {
    if (!(caught instanceof PlatformError) || caught.isOwnFault) throw caught;
    return { refused: caught.message };
  }
}
