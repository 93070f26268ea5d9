/** Pictures, saved queries, sequences and datasets, with a canary in each. */
import { gzipSync } from 'node:zlib';
import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { DatasetService } from '@platform/proto/platform/app/dataset/v1/dataset';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import {
  type CreatePackageRequestSchema,
  type CreatePackageResponse,
  PackageService,
  PackageType,
} from '@platform/proto/platform/app/packages/v1/packages';
import { DeliveryState, TriggerService } from '@platform/proto/platform/app/v1/triggers';
import type { Link } from '@platform/rpc/client';
import { serialize } from 'bson';
import { expect, vi } from 'vitest';
import { organizationOf, type Place } from './rules.ts';
import type { Site } from './site.ts';

/** Something that an organization or a part keeps. */
export interface Known {
  /** Of a package: `<organization>/<name>`; it has a version 1.0.0. */
  readonly id: string;
  readonly label: string;
  readonly keptBy: Place;
}

export interface KnownSavedQuery extends Known {
  readonly name: string;
}

/** A file that a part uploaded. */
export interface KnownFile extends Known {
  /** Id of its bounding box. */
  readonly boxId: string;
}

/** A picture of a part, with a canary in everything that can be requested about it. */
export async function uploadFile({ admin, canaries, holds }: Site, part: Place): Promise<KnownFile> {
  const maySee = holds('operator', part.label);
  const label = `file of ${part.label}`;
  const { binaryDataId: id } = await admin.client(DataSyncService).dataCaptureUpload({
    metadata: {
      partId: part.id,
      componentType: 'rdk:component:camera',
      componentName: 'c',
      methodName: 'GetImages',
      type: DataType.BINARY_SENSOR,
      fileName: canaries.make(`name of ${label}`, maySee),
      tags: [canaries.make(`tag of ${label}`, maySee)],
    },
    sensorContents: [
      { data: { case: 'binary', value: new TextEncoder().encode(canaries.make(`bytes of ${label}`, maySee)) } },
    ],
  });
  canaries.watch(id, `id of ${label}`, maySee);
  const { bboxId: boxId } = await admin.client(DataService).addBoundingBoxToImageByID({
    binaryDataId: id,
    label: canaries.make(`box of ${label}`, maySee),
    xMaxNormalized: 1,
    yMaxNormalized: 1,
  });
  return { id, label, keptBy: part, boxId };
}

/** A trigger that notifies about the files of a part, with canaries in its name and its target. */
export function fileTrigger({ canaries, holds }: Site, part: Place): JsonObject {
  const maySee = holds('operator', part.label);
  return {
    name: canaries.make(`trigger of ${part.label}`, maySee),
    event: { type: 'part_data_ingested', data_ingested: { data_types: ['binary'] } },
    notifications: [{ type: 'email', value: `${canaries.make(`target of ${part.label}`, maySee)}@example.com` }],
  };
}

/** The notifications of the parts' triggers for the uploaded files. */
export async function buildDeliveries({ admin, canaries, holds }: Site, files: readonly KnownFile[]): Promise<Known[]> {
  const deliveries: Known[] = [];
  for (const { keptBy: part } of files) {
    const label = `delivery of ${part.label}`;
    const scope = { case: 'partId', value: part.id } as const;
    const id = await vi.waitFor(
      async () => {
        const { deliveries: found } = await admin.client(TriggerService).listDeliveries({ scope });
        expect(found[0]?.state).toBe(DeliveryState.KEPT);
        return found[0]?.id ?? '';
      },
      { timeout: 240_000 },
    );
    canaries.watch(id, `id of ${label}`, holds('operator', part.label));
    deliveries.push({ id, label, keptBy: part });
  }
  return deliveries;
}

export async function buildSavedQueries({ admin, canaries, place, holds }: Site): Promise<KnownSavedQuery[]> {
  const savedQueries: KnownSavedQuery[] = [];
  for (const organization of ['A', 'B', 'C'].map(place)) {
    const label = `saved query of ${organization.label}`;
    const name = canaries.make(`name of ${label}`, holds('operator', organization.label));
    const { id } = await admin
      .client(DataService)
      .createSavedQuery({ organizationId: organization.id, name, mqlBinary: [serialize({ $match: { name } })] });
    canaries.watch(id, `id of ${label}`, holds('operator', organization.label));
    savedQueries.push({ id, label, name, keptBy: organization });
  }
  return savedQueries;
}

export async function buildSequences({ admin, canaries, holds }: Site, files: readonly KnownFile[]): Promise<Known[]> {
  const sequences: Known[] = [];
  for (const { keptBy: part } of files) {
    const label = `sequence of ${part.label}`;
    const { id } = await admin.client(DataService).createSequence({
      partId: part.id,
      sequenceTags: [canaries.make(`tag of ${label}`, holds('operator', part.label))],
      startTime: timestampFromMs(Date.now() - 3_600_000),
      endTime: timestampFromMs(Date.now() + 3_600_000),
    });
    canaries.watch(id, `id of ${label}`, holds('operator', part.label));
    sequences.push({ id, label, keptBy: part });
  }
  return sequences;
}

export async function buildPackages({ admin, canaries, place, rules }: Site): Promise<Known[]> {
  const packages: Known[] = [];
  for (const organization of ['A', 'B', 'C'].map(place)) {
    const label = `package of ${organization.label}`;
    const name = canaries.make(`name of ${label}`, (caller) => rules.isMember(caller, organization));
    const { id } = await createPackage(admin, { organizationId: organization.id, name, version: '1.0.0' });
    packages.push({ id, label, keptBy: organization });
  }
  return packages;
}

export async function buildDatasets(
  { admin, canaries, place, holds }: Site,
  files: readonly KnownFile[],
): Promise<Known[]> {
  const datasets: Known[] = [];
  for (const organization of ['A', 'B', 'C'].map(place)) {
    const label = `dataset of ${organization.label}`;
    const name = canaries.make(`name of ${label}`, holds('operator', organization.label));
    const { id } = await admin.client(DatasetService).createDataset({ organizationId: organization.id, name });
    canaries.watch(id, `id of ${label}`, holds('operator', organization.label));
    const binaryDataIds = files.filter(({ keptBy }) => organizationOf(keptBy) === organization).map((file) => file.id);
    await admin.client(DataService).addBinaryDataToDatasetByIDs({ datasetId: id, binaryDataIds });
    datasets.push({ id, label, keptBy: organization });
  }
  return datasets;
}

export interface PackageName {
  readonly organizationId: string;
  readonly name: string;
  readonly version: string;
}

type Message = MessageInitShape<typeof CreatePackageRequestSchema>;

export function packageMessages(named: PackageName): Message[] {
  return [
    { package: { case: 'info', value: { ...named, type: PackageType.MODULE } } } as Message,
    { package: { case: 'contents', value: gzipSync('a module') } } as Message,
  ];
}

/** Uses the smallest archive. */
export function createPackage(link: Link, named: PackageName): Promise<CreatePackageResponse> {
  const messages = async function* (): AsyncIterable<Message> {
    yield* packageMessages(named);
  };
  return link.client(PackageService).createPackage(messages());
}
