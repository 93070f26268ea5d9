/** Creates a machine, or finds the one at the location that has its name already. */
import { Code, ConnectError } from '@connectrpc/connect';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { clientOf } from '../api/clients.ts';

const app = clientOf(AppService);

export interface FoundMachine {
  readonly machineId: string;
  readonly name: string;
  /** It has never connected. */
  readonly isWaiting: boolean;
}

export type CreatedMachine =
  | { readonly kind: 'created'; readonly machineId: string }
  /** Somebody else has made it, or an earlier attempt whose answer was lost. */
  | { readonly kind: 'taken'; readonly machine: FoundMachine };

/** @param locationId empty: the only location, or a new one if the organization has none. @throws ConnectError */
export async function createMachine(organizationId: string, locationId: string, name: string): Promise<CreatedMachine> {
  const location = locationId || (await anyLocation(organizationId));
  try {
    return { kind: 'created', machineId: (await app.newRobot({ name, location })).id };
  } catch (caught) {
    if (ConnectError.from(caught).code !== Code.AlreadyExists) throw caught;
    const { robots } = await app.listRobots({ locationId: location });
    const found = robots.find((one) => comparable(one.name) === comparable(name));
    if (found === undefined) throw caught;
    const machine = { machineId: found.id, name: found.name, isWaiting: found.lastAccess === undefined };
    return { kind: 'taken', machine };
  }
}

/** The main part of a machine. @throws ConnectError */
export async function mainPartOf(machineId: string): Promise<string> {
  const { parts } = await app.getRobotParts({ robotId: machineId });
  return (parts.find(({ mainPart }) => mainPart) ?? parts[0])?.id ?? '';
}

/** Somebody else, or an earlier attempt, may have made one since the page asked. */
async function anyLocation(organizationId: string): Promise<string> {
  const { locations } = await app.listLocations({ organizationId });
  return locations[0]?.id ?? (await app.createLocation({ organizationId, name: 'Home' })).location?.id ?? '';
}

/** As the cloud compares names of machines (D36). */
const comparable = (name: string): string => name.trim().normalize('NFC').toLowerCase();
