/** Checks the metadata of an upload and converts it to the stored form. */
import { clone } from '@bufbuild/protobuf';
import { invalidArgument } from '@platform/base';
import { fullType } from '@platform/machine-config/built-in-models';
import { lengthFault, maxTags } from '@platform/machine-config/limits';
import {
  DataType,
  DataTypeSchema,
  type UploadIdentity,
  type UploadMetadata,
  UploadMetadataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';

export interface CheckedMetadata {
  /** As stored: without identity, component_type in full and in the `core` vocabulary, parameters sorted by name. */
  readonly metadata: UploadMetadata;
  readonly identity: Identity | null;
}

/** Identifies the upload across retries (I5, I6). */
export interface Identity {
  readonly stream: Uint8Array;
  readonly seq: number;
  readonly lowWaterMark: number;
}

const streamBytes = 16;

/** The metadata, which must at least name a part: enough to check whether the caller may upload for it. Throws invalid_argument. */
export function requireMetadata(given: UploadMetadata | undefined, method: string): UploadMetadata {
  if (!given) throw invalidArgument(`${method} expected metadata (UploadMetadata) first, found none`);
  if (given.partId === '')
    throw invalidArgument(`${method} expected the id of a machine part in metadata.part_id, found none`);
  return given;
}

/**
 * Throws invalid_argument with the expected and the found value.
 * @param held the type of what the upload holds: its type if the sender gave none (D53)
 * @param method for the message
 * @param mayBeUnnamed files need not come from a resource: public SDKs omit what their caller did not give
 */
export function checkMetadata(
  given: UploadMetadata,
  expectedTypes: readonly DataType[],
  held: DataType,
  method: string,
  mayBeUnnamed = false,
): CheckedMetadata {
  const isByContent = given.type === DataType.UNSPECIFIED;
  const type = isByContent ? held : given.type;
  if (!isByContent && !expectedTypes.includes(type)) {
    const expected = expectedTypes.map(typeName).join(' or ');
    throw invalidArgument(`${method} expected metadata.type ${expected}, found ${typeName(type)}`);
  }
  if (type !== DataType.FILE && !mayBeUnnamed) {
    for (const [name, value] of [
      ['component_type', given.componentType],
      ['component_name', given.componentName],
      ['method_name', given.methodName],
    ]) {
      if (value === '')
        throw invalidArgument(`${method} of type ${typeName(type)} expected metadata.${name}, found none`);
    }
  }
  requireShort(given, method);
  const metadata = clone(UploadMetadataSchema, given);
  delete metadata.identity;
  Object.assign(metadata, { type, typeByContent: isByContent });
  metadata.componentType = fullType(metadata.componentType);
  metadata.methodParameters = Object.fromEntries(
    Object.entries(metadata.methodParameters).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  return { metadata, identity: given.identity ? checkIdentity(given.identity, method) : null };
}

/** Public machine-servers set such a file aside on the machine (D4), because it would be refused at every retry. */
function requireShort(given: UploadMetadata, method: string): void {
  const { componentType, componentName, methodName, tags } = given;
  const names = { component_type: componentType, component_name: componentName, method_name: methodName };
  for (const [name, text] of Object.entries(names)) {
    const fault = lengthFault(text);
    if (fault !== undefined) throw invalidArgument(`${method}: metadata.${name}: ${fault}`);
  }
  if (tags.length > maxTags)
    throw invalidArgument(`${method}: metadata.tags: expected at most ${maxTags} tags, found ${tags.length}`);
  for (const [index, tag] of tags.entries()) {
    const fault = lengthFault(tag);
    if (fault !== undefined) throw invalidArgument(`${method}: metadata.tags[${index}]: ${fault}`);
  }
}

function checkIdentity({ stream, seq, floor }: UploadIdentity, method: string): Identity {
  if (stream.length !== streamBytes) {
    throw invalidArgument(`${method} expected identity.stream of ${streamBytes} bytes, found ${stream.length}`);
  }
  if (seq < 1n || seq > BigInt(Number.MAX_SAFE_INTEGER) || floor > seq) {
    throw invalidArgument(
      `${method} expected an identity with 1 ≤ seq ≤ 2^53-1 and floor ≤ seq, found seq ${seq}, floor ${floor}`,
    );
  }
  return { stream, seq: Number(seq), lowWaterMark: Number(floor) };
}

function typeName(type: DataType): string {
  return DataTypeSchema.value[type]?.name ?? `number ${type}`;
}
