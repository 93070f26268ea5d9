/** Builds the request of one operation; most requests contain one id. */
import type { DescMethod } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Caller, Subject } from './rules.ts';
import type { World } from './world.ts';

/** `unique`: a number that no other request in the run has. */
export type Builder = (subject: Subject, world: World, unique: number, caller: Caller) => object | readonly object[];

const idFields: ReadonlySet<string> = new Set(
  'organizationId orgId locationId robotId machineId partId fragmentId id'.split(' '),
);

/** For operations without a builder: puts the subject into the only id field, or nothing if the table says `-`. */
export function requestById({ name, input }: DescMethod, on: string, { id }: Subject): object {
  if (on === '-') return {};
  const fields = input.fields.filter(({ localName, fieldKind }) => idFields.has(localName) && fieldKind === 'scalar');
  if (fields.length > 1)
    throw new Error(`${name}: expected one field for an id, found ${fields.length}: say in requests.ts what is sent`);
  return Object.fromEntries(fields.map(({ localName }) => [localName, id]));
}

export const now = () => timestampFromMs(Date.now());
