/** A module as a message. */
import { fromJsonString, type JsonObject, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type ModuleSchema,
  UpdateModuleRequestSchema,
  type VersionHistorySchema,
  Visibility,
} from '@platform/proto/platform/app/v1/app';
import type { ModuleRow, PackageRow } from '../store.ts';
import type { StoredModule } from './stored-modules.ts';

/** The details that UpdateModule last set; empty if it was never called. */
export function detailsOf(row: ModuleRow | undefined): MessageShape<typeof UpdateModuleRequestSchema> {
  return fromJsonString(UpdateModuleRequestSchema, row?.details ?? '{}', { ignoreUnknownFields: true });
}

/** @param namespace of the organization; empty: none @param documented whether to include the documentation */
export function moduleMessage(
  module: StoredModule,
  namespace: string,
  documented: boolean,
): MessageInitShape<typeof ModuleSchema> {
  const { organizationId, name, row, versions } = module;
  const { url, description, models, entrypoint, firstRun, apps, markdownDescription } = detailsOf(row);
  const newest = metadataOf(versions.at(-1));
  return {
    moduleId: `${namespace || organizationId}:${name}`,
    name,
    // Modules are served only to the machines of their organization, whatever their meta.json says.
    visibility: Visibility.PRIVATE,
    versions: [...Map.groupBy(versions, ({ version }) => version).values()].map(versionMessage),
    ...{ url, description, organizationId, publicNamespace: namespace, apps },
    models: models.map(({ markdownDocumentation, ...model }) => ({
      ...model,
      ...(documented && markdownDocumentation !== undefined && { markdownDocumentation }),
    })),
    entrypoint: entrypoint || textOf(newest, 'entrypoint'),
    ...(firstRun !== undefined && { firstRun }),
    ...(documented && markdownDescription !== undefined && { markdownDescription }),
  };
}

function versionMessage(files: readonly PackageRow[]): MessageInitShape<typeof VersionHistorySchema> {
  const metadata = metadataOf(files[0]);
  const firstRun = textOf(metadata, 'first_run');
  return {
    version: files[0]?.version ?? '',
    files: files
      .map(({ platform, created_ms }) => ({ platform: platform || 'any', uploadedAt: timestampFromMs(created_ms) }))
      .toSorted((a, b) => (a.platform < b.platform ? -1 : 1)),
    models: modelsOf(metadata),
    entrypoint: textOf(metadata, 'entrypoint'),
    ...(firstRun !== '' && { firstRun }),
  };
}

/** Uploaders write the metadata; entries that are not models are omitted. */
function modelsOf(metadata: JsonObject): { readonly api: string; readonly model: string }[] {
  const { models } = metadata;
  return (Array.isArray(models) ? models : [])
    .filter((one): one is JsonObject => typeof one === 'object' && one !== null && !Array.isArray(one))
    .map((one) => ({ api: textOf(one, 'api'), model: textOf(one, 'model') }));
}

function metadataOf(row: PackageRow | undefined): JsonObject {
  return JSON.parse(row?.metadata ?? '{}') as JsonObject;
}

export function textOf(metadata: Readonly<Record<string, unknown>>, key: string): string {
  const value = metadata[key];
  return typeof value === 'string' ? value : '';
}
