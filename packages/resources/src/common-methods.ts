/** What all types have in common: model-specific commands, geometries and status. */
import type { JsonObject } from '@bufbuild/protobuf';
import { PlatformError } from '@platform/base';
import type { Commandable, Document } from './resource.ts';
import type { CaptureMethod } from './resource-descriptor.ts';

export const commonMethods = {
  async doCommand(
    resource: Commandable,
    { command }: { command?: JsonObject | undefined },
  ): Promise<{ result: JsonObject }> {
    return { result: jsonOf(await resource.doCommand(command ?? {})) };
  },
  async getGeometries(): Promise<{ geometries: [] }> {
    return { geometries: [] };
  },
  async getStatus(): Promise<{ result: JsonObject }> {
    return { result: {} };
  },
};

/** `doCommand` of a resource in another process. */
export function commandsOver(client: {
  doCommand(request: { command: JsonObject }): Promise<{ result?: JsonObject | undefined }>;
}): Pick<Commandable, 'doCommand'> {
  return { doCommand: async (command) => (await client.doCommand({ command: jsonOf(command) })).result ?? {} };
}

export const doCommandCapture: CaptureMethod<Commandable> = {
  kind: 'tabular',
  read(resource, { docommand_input: command }) {
    if (typeof command !== 'object' || command === null || Array.isArray(command)) {
      throw new PlatformError(
        'invalid_argument',
        'capturing DoCommand requires an object in additional_params.docommand_input',
      );
    }
    return resource.doCommand(command as Document);
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
