/** What all types have in common: model-specific commands, geometries and status. */
import { type DescMessage, type DescService, fromBinary, type JsonObject } from '@bufbuild/protobuf';
import { concatBytes, invalidArgument, WireReader } from '@platform/base/portable';
import { encodedCall, maxMessageDepth } from '@platform/rpc/portable';
import { EncodedDocument, isLong } from './encoded-document.ts';
import type { Commandable, Document } from './resource.ts';
import type { CaptureMethod, Connection } from './resource-descriptor.ts';

export const commonMethods = {
  doCommand: async (
    resource: Commandable,
    { command }: { command?: JsonObject | undefined },
  ): Promise<{ result: JsonObject }> => ({ result: jsonOf(await resource.doCommand(command ?? {})) }),
  getGeometries: async (): Promise<{ geometries: [] }> => ({ geometries: [] }),
  getStatus: async (): Promise<{ result: JsonObject }> => ({ result: {} }),
};

/** The wire type of messages. */
const lengthDelimited = 2;

interface Answer {
  readonly result?: JsonObject | undefined;
}

/** `doCommand` of a resource in another process. */
export function commandsOver(
  connection: Connection,
  service: DescService,
): Pick<Commandable, 'doCommand' | 'captureCommand'> {
  const client = connection.client(service) as unknown as { doCommand(request: object): Promise<Answer> };
  const method = service.methods.find(({ localName }) => localName === 'doCommand');
  const encoded = method && encodedCall(connection, method);
  return {
    doCommand: async (command) => (await client.doCommand({ command: jsonOf(command) })).result ?? {},
    ...(encoded && {
      captureCommand: async (command) => resultIn(method.output, await encoded({ command: jsonOf(command) })),
    }),
  };
}

function resultIn(type: DescMessage, bytes: Uint8Array): Document | EncodedDocument {
  if (isLong(bytes)) return new EncodedDocument(contentOf(bytes, type.field['result']?.number ?? 1), 0);
  const options = { readUnknownFields: false, recursionLimit: maxMessageDepth };
  return (fromBinary(type, bytes, options) as Answer).result ?? {};
}

/** The content of a field that is a message. If the field is repeated, its contents are merged, as a decoder does. */
function contentOf(bytes: Uint8Array, number: number): Uint8Array {
  const parts: Uint8Array[] = [];
  const reader = new WireReader(bytes, 0, bytes.length);
  while (reader.next())
    if (reader.number === number && reader.type === lengthDelimited)
      parts.push(bytes.subarray(reader.contentStart, reader.contentEnd));
  if (reader.broken) throw invalidArgument('expected the answer to DoCommand, found other bytes');
  return parts.length === 1 ? (parts[0] as Uint8Array) : concatBytes(parts);
}

export const doCommandCapture: CaptureMethod<Commandable> = {
  kind: 'tabular',
  read(resource, { docommand_input: command }) {
    if (typeof command !== 'object' || command === null || Array.isArray(command)) {
      throw invalidArgument('capturing DoCommand requires an object in additional_params.docommand_input');
    }
    return resource.captureCommand?.(command as Document) ?? resource.doCommand(command as Document);
  },
};

/** As `{pose: {…}}`, for every component. */
export const worldPoseCapture: CaptureMethod = {
  kind: 'tabular',
  read: async (_resource, _params, { worldPose }) => ({ pose: await worldPose() }),
};

/** Converts a document to what the wire can carry. */
export function jsonOf(document: Document): JsonObject {
  return JSON.parse(JSON.stringify(document)) as JsonObject;
}
